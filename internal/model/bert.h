#include <stdint.h>

// The shape of all-MiniLM-L6-v2.
enum { DIM = 384, LAYERS = 6, HEADS = 12, HEAD = 32, INNER = 1536, MOST = 256 };

// bert_vector writes the vector of a text, of length 1, given its tokens (at most MOST). words are the rows of word embeddings, scales
// their scales (which may lie anywhere), matrices those of the layers, floats the tables of make.py. The path is PATH_BEST, or a slower
// one that gives the same bits. It returns 0, or -1 where there is no memory.
enum { PATH_BEST, PATH_AVX2, PATH_PLAIN };
int bert_vector(const int32_t *tokens, int n, const int8_t *words, const char *scales, const int8_t *matrices, const float *floats, int path, float *out);
