package translate

// Arithmetic numbers the arithmetic of translations: it is raised whenever a change gives any model
// another translation, or other bits of a score, so that outputs of different programs can be told
// to be pieces of one.
const Arithmetic = 1
