package main

import (
	"archive/zip"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"library-catalogue/db/dbtest"
)

// maxImportMemory is how much memory an import of any file may take, in kB.
const maxImportMemory = 100 << 10

// TestHostileFiles: files that are made to take all memory end with a sentence; in a
// soak, where they are at full length and the program is as it is shipped, within
// maxImportMemory.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	megabytes := 8
	if dbtest.Soak {
		megabytes = 150
	}
	program := targetProgram(t)
	long := func(w io.Writer, line string) {
		part := strings.Repeat(line, (1<<20)/len(line))
		for range megabytes {
			_, _ = io.WriteString(w, part)
		}
	}
	columns := strings.Repeat("c,", 10_000)
	sheet := func(cell func(io.Writer)) func(io.Writer) {
		return func(w io.Writer) {
			archive := zip.NewWriter(w)
			for name, text := range map[string]string{
				"_rels/.rels":                `<R><Relationship Id="a" Type="x/officeDocument" Target="xl/workbook.xml"/></R>`,
				"xl/workbook.xml":            `<workbook><sheets><sheet name="S" id="a"/></sheets></workbook>`,
				"xl/_rels/workbook.xml.rels": `<R><Relationship Id="a" Type="x/worksheet" Target="worksheets/sheet1.xml"/></R>`,
			} {
				part, _ := archive.Create(name)
				_, _ = io.WriteString(part, text)
			}
			picture, _ := archive.Create("xl/media/image1.png") // which nobody reads
			long(picture, "0")
			part, _ := archive.Create("xl/worksheets/sheet1.xml")
			_, _ = io.WriteString(part, `<worksheet><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>`)
			cell(part)
			_, _ = io.WriteString(part, `</t></is></c></row></sheetData></worksheet>`)
			_ = archive.Close()
		}
	}
	random := func(w io.Writer) {
		source, err := os.Open("/dev/urandom")
		if err != nil {
			t.Error(err)
			return
		}
		defer source.Close()
		_, _ = io.CopyN(hexWriter{w}, source, int64(megabytes)<<19)
	}
	for name, test := range map[string]struct {
		write func(io.Writer)
		code  int
		want  string
	}{
		"a cell.csv": {func(w io.Writer) { io.WriteString(w, header); long(w, "x"); io.WriteString(w, "\n"+csvRow(1)) }, 1, "row 1 (line 2): The row is longer than 1 MiB."},
		"a quoted cell.csv": {func(w io.Writer) {
			io.WriteString(w, header+`"`)
			long(w, strings.Repeat("x", 1023)+"\n")
			io.WriteString(w, "\"\n"+csvRow(1))
		}, 1, "row 1 (line 2): The row is longer than 1 MiB."},
		"a header.csv":    {func(w io.Writer) { long(w, "x") }, 2, "The row is longer"},
		"an element.json": {func(w io.Writer) { io.WriteString(w, `[{"name":"`); long(w, "x"); io.WriteString(w, `"}]`) }, 2, "the element of the JSON array after line 1 is longer than 1 MiB"},
		"keys.jsonl":      {func(w io.Writer) { io.WriteString(w, `{"a":`); long(w, `{"a":`) }, 1, "row 1 (line 1): The row is longer than 1 MiB."},
		"columns.csv":     {func(w io.Writer) { io.WriteString(w, columns+"\n"+columns+"\n") }, 2, "and 9981 more. Use --map"},
		"bomb.csv.gz": {func(w io.Writer) {
			packer := gzip.NewWriter(w)
			for range 1 + 40/megabytes {
				long(packer, "0")
			}
			_ = packer.Close()
		}, 2, "expands to more than 100 times its size"},
		"bomb.xlsx": {sheet(func(w io.Writer) {
			for range 1 + 40/megabytes {
				long(w, "<t/>")
			}
		}), 2, "expands to more than 100 times its size"},
		"a cell.xlsx": {sheet(random), 2, "a cell of the spreadsheet is longer than 1 MiB"},
		"columns.xlsx": {sheet(func(w io.Writer) {
			io.WriteString(w, "name</t></is></c></row>")
			for range 500 * megabytes {
				io.WriteString(w, "<row><c r=\"XFD2\"><v>1</v></c></row>")
			}
			io.WriteString(w, "<row><c><is><t>")
		}), 2, "It has: name."},
		"escapes.csv": {func(w io.Writer) { io.WriteString(w, "name,\x1b[2J\n\x1b]0;x\x07,1\n") }, 2, `It has: name, \x1b[2J.`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), name)
			file, err := os.Create(path)
			must(t, err)
			test.write(file)
			must(t, file.Close())
			command := exec.Command(program, "import", path)
			command.Env = append(os.Environ(), "CATALOGUE_DATABASE_URL="+dbtest.SQLite(t))
			out, _ := command.CombinedOutput()
			if code := command.ProcessState.ExitCode(); code != test.code || !strings.Contains(strings.ToLower(string(out)), strings.ToLower(test.want)) {
				t.Errorf("ended with %d\n%.2000s", code, out)
			}
			if strings.ContainsAny(string(out), "\x1b\x07") {
				t.Errorf("shown as it is: %q", out)
			}
			// Linux gives a process the peak of the one that started it to begin with.
			var own syscall.Rusage
			_ = syscall.Getrusage(syscall.RUSAGE_SELF, &own)
			used := command.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
			if dbtest.Soak && used > max(maxImportMemory, own.Maxrss) {
				t.Errorf("%d kB of memory", used)
			}
		})
	}
}

// hexWriter writes bytes as digits, which cannot be packed well.
type hexWriter struct{ io.Writer }

func (w hexWriter) Write(p []byte) (int, error) {
	_, err := fmt.Fprintf(w.Writer, "%x", p)
	return len(p), err
}
