package redact

import "strings"

// decodeFilter says what of runs of base64 and of hexadecimal digits is decoded: rows of at least so many bytes, all of
// them among bytes.
type decodeFilter struct {
	least int
	bytes [256]bool
}

// readableBytes decodes readable text, in which the rules look for secrets.
var readableBytes = func() *decodeFilter { //nolint:gochecknoglobals // read-only
	w := &decodeFilter{least: 18, bytes: bytesIn("\n\t\r")}
	for c := ' '; c <= '~'; c++ {
		w.bytes[c] = true
	}
	return w
}()

// filterForValues decodes rows that may hold one of the values.
func filterForValues(values []string) *decodeFilter {
	w := &decodeFilter{least: minValue}
	for _, v := range values {
		for i := range len(v) {
			w.bytes[v[i]] = true
		}
	}
	return w
}

// decoder makes a reading of what another one encodes.
type decoder struct {
	*decodeFilter
	out, last []byte
	run       window // in the other reading
	reading
}

// decodeRuns is what runs of base64 and of hexadecimal digits in a reading stand for, one row behind the other. A run
// may begin with what is no part of the encoding, such as a path. So it is decoded from each of its first four places
// on.
func decodeRuns(of reading, w *decodeFilter) reading {
	t := of.text
	d := decoder{decodeFilter: w, reading: reading{done: of.done, runs: []window{}}}
	for i := 0; i < len(t); i++ {
		if sextets[t[i]] < 0 {
			continue
		}
		d.run = window{i, i}
		var or int8 // negative where a byte is no hexadecimal digit
		for ; i < len(t) && sextets[t[i]] >= 0; i++ {
			or |= nibbles[t[i]]
		}
		if d.run.hi = i; 3*(i-d.run.lo) < 4*w.least {
			continue
		}
		for shift := range 4 {
			d.base64(t[d.run.lo+shift : i])
		}
		for shift := 0; shift < 2 && or >= 0; shift++ {
			d.hex(t[d.run.lo+shift : i])
		}
	}
	d.text = string(d.out)
	return d.reading
}

// base64 decodes either alphabet.
func (d *decoder) base64(v string) {
	d.last = d.last[:0]
	for ; len(v) > 3; v = v[4:] {
		n := uint32(sextets[v[0]])<<18 | uint32(sextets[v[1]])<<12 | uint32(sextets[v[2]])<<6 | uint32(sextets[v[3]])
		d.last = append(d.last, byte(n>>16), byte(n>>8), byte(n))
	}
	if len(v) > 1 {
		d.last = append(d.last, byte(sextets[v[0]])<<2|byte(sextets[v[1]])>>4)
	}
	if len(v) > 2 {
		d.last = append(d.last, byte(sextets[v[1]])<<4|byte(sextets[v[2]])>>2)
	}
	d.keepRows()
}

func (d *decoder) hex(v string) {
	d.last = d.last[:0]
	for ; len(v) > 1; v = v[2:] {
		d.last = append(d.last, byte(nibbles[v[0]]<<4|nibbles[v[1]]))
	}
	d.keepRows()
}

// keepRows keeps the rows of what was decoded last that the filter asks for. It looks at the last byte of each possible
// row first: most are none.
func (d *decoder) keepRows() {
	for v := d.last; len(v) >= d.least; {
		n := d.least
		for n > 0 && d.bytes[v[n-1]] {
			n--
		}
		if n > 0 {
			v = v[n:]
			continue
		}
		for n = d.least; n < len(v) && d.bytes[v[n]]; {
			n++
		}
		d.out = append(append(d.out, v[:n]...), '\n')
		d.runs, d.ends = append(d.runs, d.run), append(d.ends, len(d.out))
		v = v[n:]
	}
}

// decoded is what may be base64 of a text.
func decoded(v string) string {
	d := decoder{decodeFilter: &decodeFilter{least: 1, bytes: readableBytes.bytes}}
	d.base64(v)
	return strings.TrimSuffix(string(d.out), "\n")
}

// sextets are what the letters of base64 stand for; -1 for other bytes.
var sextets = func() (out [256]int8) { //nolint:gochecknoglobals // read-only
	for c := range out {
		out[c] = int8(strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", byte(c)))
	}
	out['-'], out['_'] = 62, 63
	return out
}()

// nibbles are what hexadecimal digits stand for; -1 for other bytes.
var nibbles = func() (out [256]int8) { //nolint:gochecknoglobals // read-only
	for c := range out {
		out[c] = int8(strings.IndexByte("0123456789abcdef", lowerByte(byte(c))))
	}
	return out
}()
