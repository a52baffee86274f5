package cli

import (
	"flag"
	"slices"
)

// Group is flags that belong together: a heading of the help and of a file of settings.
type Group struct {
	Title string
	Names []string
}

// VisitGroups calls do for the flags of f: first those that are in no group, with the title "Flags", then group by group. It passes over
// names of groups that f does not have.
func VisitGroups(f *flag.FlagSet, groups []Group, do func(title string, flags []*flag.Flag)) {
	var rest []*flag.Flag
	f.VisitAll(func(g *flag.Flag) {
		if !slices.ContainsFunc(groups, func(group Group) bool { return slices.Contains(group.Names, g.Name) }) {
			rest = append(rest, g)
		}
	})
	if len(rest) > 0 {
		do("Flags", rest)
	}
	for _, group := range groups {
		var flags []*flag.Flag
		for _, name := range group.Names {
			if g := f.Lookup(name); g != nil {
				flags = append(flags, g)
			}
		}
		do(group.Title, flags)
	}
}
