package spool

import (
	"cmp"
	"context"
	"io"

	"github.com/klauspost/compress/s2"
)

// Reader reads a text from its beginning, on one goroutine.
type Reader struct {
	ctx   context.Context // of who asks
	text  *text
	pos   int64
	block *[blockSize]byte // one that was compressed, of which a part was read; else nil
}

// Close ends the reading. What nobody reads any more is not written further.
func (r *Reader) Close() {
	r.text.spools.leave(r)
	r.releaseBlock()
}

func (r *Reader) releaseBlock() {
	if r.block != nil {
		plainBlocks.Put(r.block)
		r.block = nil
	}
}

// More reports whether more of the text is to be made, and whether a Read would wait for
// it.
func (r *Reader) More() (more, waiting bool) {
	r.text.mu.Lock()
	defer r.text.mu.Unlock()
	more = !r.text.last && !r.text.done
	return more, more && r.pos == r.text.length
}

// Read implements io.Reader. It waits for more of the text. Where the text has failed,
// it returns the error at once.
func (r *Reader) Read(p []byte) (int, error) {
	t := r.text
	t.mu.Lock()
	for r.pos == t.length && !t.done {
		if t.more == nil {
			t.more = make(chan struct{})
		}
		more := t.more
		t.mu.Unlock()
		select {
		case <-more:
		case <-r.ctx.Done():
			return 0, r.ctx.Err()
		}
		t.mu.Lock()
	}
	if t.err != nil || r.pos == t.length {
		defer t.mu.Unlock()
		return 0, cmp.Or(t.err, io.EOF)
	}
	i, at := int(r.pos/blockSize), r.pos%blockSize
	p = p[:min(int64(len(p)), blockSize-at, t.length-r.pos)]
	r.pos += int64(len(p))
	if plain := t.blocks[i].plain; plain != nil {
		defer t.mu.Unlock()
		return copy(p, plain[at:]), nil // under the lock: it is used again once it is compressed
	}
	t.mu.Unlock()
	if len(p) == blockSize {
		return len(p), r.decode(i, p)
	}
	if r.block == nil {
		r.block = plainBlocks.Get().(*[blockSize]byte)
		if err := r.decode(i, r.block[:]); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.block[at:])
	if at+int64(n) == blockSize {
		r.releaseBlock()
	}
	return n, nil
}

// decode reads a block that is compressed into dst.
func (r *Reader) decode(i int, dst []byte) error {
	r.text.mu.Lock()
	b, file := r.text.blocks[i], r.text.file
	r.text.mu.Unlock()
	packed, err := b.packed, error(nil)
	if packed == nil {
		buffer := packedBuffers.Get().(*[]byte)
		defer packedBuffers.Put(buffer)
		packed = (*buffer)[:b.size]
		_, err = file.ReadAt(packed, b.offset)
	}
	if err == nil {
		_, err = s2.Decode(dst, packed)
	}
	if err != nil {
		return cmp.Or(r.text.failure(), err) // it may have made room for another text
	}
	return nil
}
