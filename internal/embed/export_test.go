package embed

// Decode is for tests.
func Decode(body []byte, n int) ([][]float32, error) { return decodeVectors(body, n) }
