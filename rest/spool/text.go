package spool

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"sync"

	"github.com/klauspost/compress/s2"
)

const (
	// blockSize is how much of a text is compressed at once, and is best read at once.
	blockSize = 32 << 10
	// window is how many blocks at the end of a text are in memory as they are: five
	// parts of a list of books, by which a reader may be behind.
	window = 32
	// maxPlain is how many such blocks there may be of all texts before each may have
	// but one: 16 MB.
	maxPlain = 16 * window
)

// text is what one producer writes, and any number of readers read.
type text struct {
	spools   *Spools
	key      string
	revision int64              // that who asked first has seen
	cancel   context.CancelFunc // ends what produces it
	ended    chan struct{}      // is closed when nothing produces it any more

	// Under the lock of spools.
	begun    bool            // it may not be of a later revision
	readers  map[*Reader]any // with their owners
	reserved int64           // bytes of the room for compressed texts

	mu     sync.Mutex
	blocks []block
	plain  int           // index of the first block that is not compressed
	length int64         // bytes so far
	file   *os.File      // nil where there is none yet
	size   int64         // of the file
	last   bool          // the end is being written
	done   bool          // nothing will be added
	err    error         // why it has no end
	more   chan struct{} // is closed when there is more; nil where nobody waits
}

// block is a part of a text, of blockSize bytes but for the last.
type block struct {
	plain  *[blockSize]byte // nil once it is compressed
	packed []byte           // compressed in memory, where there are no files
	offset int64            // in the file
	size   int              // in the file
}

var (
	plainBlocks   = sync.Pool{New: func() any { return new([blockSize]byte) }}
	packedBuffers = sync.Pool{New: func() any { b := make([]byte, s2.MaxEncodedLen(blockSize)); return &b }}
)

// Write implements io.Writer for the producer.
func (t *text) Write(p []byte) (written int, err error) {
	for written < len(p) && err == nil {
		if t.length%blockSize == 0 {
			if err := t.addBlock(); err != nil {
				return written, err
			}
		}
		t.mu.Lock()
		n := copy(t.blocks[len(t.blocks)-1].plain[t.length%blockSize:], p[written:])
		t.length += int64(n)
		written += n
		err = t.err // it may have made room for another text
		t.mu.Unlock()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.wake()
	return written, err
}

// wake lets readers look at what there is now.
func (t *text) wake() {
	if t.more != nil {
		close(t.more)
		t.more = nil
	}
}

// addBlock adds an empty block, and compresses the first ones where many are not.
func (t *text) addBlock() error {
	for n := len(t.blocks) - t.plain; n >= window || n > 0 && t.spools.plain.Load() >= maxPlain; n-- {
		if err := t.compress(); err != nil {
			return err
		}
	}
	t.spools.plain.Add(1)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.blocks = append(t.blocks, block{plain: plainBlocks.Get().(*[blockSize]byte)})
	return nil
}

// compress compresses the first block that is not.
func (t *text) compress() error {
	buffer := packedBuffers.Get().(*[]byte)
	defer packedBuffers.Put(buffer)
	plain := t.blocks[t.plain].plain
	packed := s2.Encode(*buffer, plain[:])
	if err := t.spools.reserve(t, int64(len(packed))); err != nil {
		return err
	}
	b, err := t.store(packed)
	if err != nil {
		t.spools.log.Error("a list could not be written to a temporary file", "error", err)
		return ErrFull
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.blocks[t.plain] = b
	t.plain++
	t.spools.plain.Add(-1)
	plainBlocks.Put(plain)
	return nil
}

// store puts a compressed block where it is read from later.
func (t *text) store(packed []byte) (block, error) {
	if !t.spools.inFiles {
		return block{packed: bytes.Clone(packed)}, nil
	}
	if t.file == nil {
		file, err := newFile()
		if err != nil {
			return block{}, err
		}
		t.mu.Lock()
		t.file = file
		t.mu.Unlock()
	}
	b := block{offset: t.size, size: len(packed)}
	t.size += int64(b.size)
	_, err := t.file.WriteAt(packed, b.offset)
	return b, err
}

// finish writes the end of the text. Who reads its first byte knows already that no
// more comes.
func (t *text) finish(end []byte) error {
	t.mu.Lock()
	t.last = true
	t.mu.Unlock()
	_, err := t.Write(end)
	return err
}

// end notes that nothing will be added.
func (t *text) end(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err = cmp.Or(t.err, err)
	t.done = true
	t.wake()
}

// failure returns why the text has no end.
func (t *text) failure() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// evict ends a text to make room for another.
func (t *text) evict() {
	t.end(ErrFull)
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.blocks {
		t.blocks[i].packed = nil
	}
	if t.file != nil {
		_ = t.file.Truncate(0) // if it cannot be, the room is free when the readers have gone
	}
}

// release lets go of what a text without readers holds.
func (t *text) release() {
	for _, b := range t.blocks[t.plain:] {
		t.spools.plain.Add(-1)
		plainBlocks.Put(b.plain)
	}
	if t.file != nil {
		t.file.Close()
	}
}
