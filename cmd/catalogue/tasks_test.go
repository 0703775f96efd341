package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// notProduct are the folders whose goroutines may end the process: tests, tools and examples.
var notProduct = []string{"task", "db/dbtest", "server/servertest", "bench", "soak", "examples", "web/e2e"}

// starters are the names of functions that start a goroutine or a timer, and what to use instead.
var starters = map[string]string{
	"AfterFunc": "task.AfterFunc or task.OnDone", "Go": "task.Go", "TryGo": "task.Go", "DoChan": "task.Go with Do",
}

// bareStarts returns where a file starts a goroutine or a timer without package task.
func bareStarts(files *token.FileSet, file *ast.File) (found []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = append(found, files.Position(n.Pos()).String()+": use task.Go for a bare go statement")
		case *ast.SelectorExpr:
			of, _ := n.X.(*ast.Ident)
			instead, starts := starters[n.Sel.Name]
			if starts && (of == nil || of.Name != "task") {
				found = append(found, files.Position(n.Pos()).String()+": use "+instead+" for "+n.Sel.Name)
			}
		}
		return true
	})
	return found
}

// TestTasks wants package task to start all goroutines and timers of the product, because a panic in another one ends
// the process.
func TestTasks(t *testing.T) {
	t.Parallel()
	const root = "../.."
	looked := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir() && (path != root && strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" ||
			entry.Name() == "node_modules" || slices.Contains(notProduct, filepath.ToSlash(name))):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		looked++
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, start := range bareStarts(files, file) {
			t.Error(start)
		}
		return nil
	})
	must(t, err)
	if looked < 100 {
		t.Errorf("looked at %d files", looked)
	}
}

// TestBareStarts shows that each way is found.
func TestBareStarts(t *testing.T) {
	t.Parallel()
	for statement, bare := range map[string]bool{
		"go f()": true, "go func() { f() }()": true, "time.AfterFunc(d, f)": true, "start := context.AfterFunc; start(ctx, f)": true,
		"group.Go(f)": true, "s.running.Go(f)": true, "flight.DoChan(k, f)": true, "defer context.AfterFunc(ctx, f)()": true,
		"new(errgroup.Group).TryGo(f)": true, "task.Go(ctx, f)": false, "defer task.OnDone(ctx, f)()": false,
		"task.AfterFunc(ctx, d, f)": false, "time.NewTimer(d)": false, "flight.Do(k, f)": false,
	} {
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, "a.go", "package a\nfunc a() { "+statement+" }", parser.SkipObjectResolution)
		must(t, err)
		if found := bareStarts(files, file); (len(found) > 0) != bare {
			t.Errorf("%s: %q", statement, found)
		}
	}
}
