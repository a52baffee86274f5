// Package lesson trains the paper's model on three sentences until it has learned them by heart,
// and shows the training and every turn of the loop that translates (lesson.go). It imports the
// model and its training, and knows nothing of commands.
package lesson
