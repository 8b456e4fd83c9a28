package wasi

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// piece is one of a data section, at a fixed place of the first memory.
func piece(at int32, text string) string {
	b := append([]byte{0, opI32Const}, appendSigned(nil, at)...)
	b = binary.AppendUvarint(append(b, opEnd), uint64(len(text)))
	return string(b) + text
}

func TestPiecesAreJoined(t *testing.T) {
	passive := "\x01\x03abc"
	for _, test := range []struct {
		name         string
		pieces, want []string
	}{
		{"none", nil, nil},
		{"side by side", []string{piece(8, "ab"), piece(10, "cd")}, []string{piece(8, "abcd")}},
		{"near", []string{piece(8, "ab"), piece(12, "cd"), piece(14, "")}, []string{piece(8, "ab\x00\x00cd")}},
		{"far", []string{piece(8, "ab"), piece(80, "cd")}, []string{piece(8, "ab"), piece(80, "cd")}},
		{"beyond 2 GiB", []string{piece(-16, "ab"), piece(-14, "cd")}, []string{piece(-16, "abcd")}},
		{"overlapping", []string{piece(8, "abcd"), piece(10, "xy")}, []string{piece(8, "abcd"), piece(10, "xy")}},
		{"out of order", []string{piece(10, "ab"), piece(200, "x"), piece(8, "cd")}, []string{piece(8, "cdab"), piece(200, "x")}},
		{"passive", []string{piece(8, "ab"), passive, piece(10, "cd")}, []string{piece(8, "ab"), passive, piece(10, "cd")}},
		{"placed by a global", []string{"\x00\x23\x00\x0b\x01a", piece(8, "b")}, []string{"\x00\x23\x00\x0b\x01a", piece(8, "b")}},
	} {
		if got := joined(vec(test.pieces...)); !bytes.Equal(got, vec(test.want...)) {
			t.Errorf("%s: got %q, want %q", test.name, got, vec(test.want...))
		}
	}
}

// Where code may name a piece of data, all of it stays as it is.
func TestNamedPiecesStay(t *testing.T) {
	data := section(sectionData, vec(piece(8, "ab"), piece(10, "cd"))...)
	count := section(sectionDataCount, 2)
	good := string(program(doNothing))
	if got := string(stripped([]byte(good + count + data))); got != good+count+data {
		t.Errorf("got %q", got)
	}
	if got, want := string(stripped([]byte(good+data))), good+section(sectionData, vec(piece(8, "abcd"))...); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A Go program has its data in a few pieces then, and the same data.
func TestGoProgramsAreStripped(t *testing.T) {
	module := guest(t, labGuest)
	before, after := memoryOf(t, module), memoryOf(t, stripped(module))
	t.Logf("%d pieces, and %d", before.pieces, after.pieces)
	if after.pieces*10 > before.pieces {
		t.Errorf("of %d pieces %d are left", before.pieces, after.pieces)
	}
	if !bytes.Equal(before.image, after.image) {
		t.Error("the memory at its start is another")
	}
}

type startMemory struct {
	pieces int
	image  []byte
}

// memoryOf lays out the data of a module.
func memoryOf(t *testing.T, module []byte) (m startMemory) {
	t.Helper()
	for s := range sections(module) {
		if s.id != sectionData {
			continue
		}
		pieces, ok := dataPieces(s.content)
		if !ok {
			t.Fatal("its data is not plain")
		}
		m.pieces = len(pieces)
		for _, p := range pieces {
			m.image = append(m.image, make([]byte, int(p.at)+len(p.bytes)-len(m.image))...)
			copy(m.image[p.at:], p.bytes)
		}
	}
	return m
}

// FuzzJoined checks that joining changes nothing of what the memory begins with.
func FuzzJoined(f *testing.F) {
	f.Add(vec(piece(8, "ab"), piece(10, "cd"), piece(100, "x")))
	f.Add(vec(piece(-16, "ab"), piece(-10, "cd")))
	f.Fuzz(func(t *testing.T, section []byte) {
		before, ok := dataPieces(section)
		if !ok {
			return
		}
		after, ok := dataPieces(joined(section))
		if !ok {
			t.Fatalf("joined, it cannot be read: %q", joined(section))
		}
		if diff := cmp.Diff(bytesAt(before), bytesAt(after)); diff != "" {
			t.Errorf("another memory (-before +after):\n%s", diff)
		}
	})
}

// bytesAt are all bytes but zeros by their place.
func bytesAt(pieces []dataPiece) map[uint64]byte {
	all := map[uint64]byte{}
	for _, p := range pieces {
		for i, b := range p.bytes {
			if b != 0 {
				all[uint64(p.at)+uint64(i)] = b
			}
		}
	}
	return all
}
