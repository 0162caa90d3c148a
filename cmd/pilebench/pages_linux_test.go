package main

import "testing"

func TestBareMemoryIsCollapsed(t *testing.T) {
	const size = 16 << 20
	memory, err := newBareMemory([]int64{size}, backings()[0], "auto")
	if err != nil {
		t.Fatal(err)
	}
	defer memory.close()
	commitAll(memory.memory)
	before, told := hugeMemory()
	if !told || !collapse(memory.memory) {
		t.Skip("this kernel does not collapse pages on demand")
	}
	if after, _ := hugeMemory(); after-before < size/2 {
		t.Skip("this kernel has no huge pages to give") // then the comparison has none either
	}
	again, err := newBareMemory([]int64{size}, backings()[0], "auto")
	if err != nil {
		t.Fatal(err)
	}
	defer again.close()
	commitAll(again.memory)
	before, _ = hugeMemory()
	c := &chase{v: &values{b: &bench{}}, bare: again}
	if err := c.collapseBare(size); err != nil {
		t.Fatal(err)
	}
	if after, _ := hugeMemory(); after-before < size-2*collapseStep {
		t.Errorf("%s of %s became huge pages", formatSize(after-before), formatSize(size))
	}
}
