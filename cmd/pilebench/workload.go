package main

// workload is what is put into the pile and done with it. A new one is a file
// with a type of its own and a line in workloads; the rounds, the progress, the
// memory and the report are there for it to use.
type workload interface {
	// plan says how much it will do within the memory that it may use.
	plan(c *config, allowed int64) (plan, error)
	// steps returns what it does, in order; each adds rows to b.report.
	steps(b *bench) []step
	// close gives back what it holds; it is called in every case.
	close()
}

// workloads lists what -workload takes and how it begins.
func workloads() []namedWorkload {
	return []namedWorkload{
		{"strings", newValues},
		{"bytes", newValues},
		{"mixed", newValues},
		{"persons", newPersons},
		{"objects", newObjects},
		{workloadCache, newTables},
	}
}

type namedWorkload struct {
	name string
	open func(c *config) (workload, error)
}

func workloadNames() (names []string) {
	for _, w := range workloads() {
		names = append(names, w.name)
	}
	return names
}

// openWorkload makes the workload that the config names.
func openWorkload(c *config) (workload, error) {
	for _, w := range workloads() {
		if w.name == c.workload {
			return w.open(c)
		}
	}
	panic("pilebench: workload not validated: " + c.workload)
}
