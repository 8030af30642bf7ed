package embed

// Decode is for tests.
func Decode(body []byte, n int) ([][]float32, error) { return decodeVectors(body, n) }

// StorageName is for tests.
func StorageName(model string) string { return storageName(model) }
