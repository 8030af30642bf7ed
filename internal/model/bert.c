// One text through all-MiniLM-L6-v2, a BERT of six layers.
//
// Matrices are int8, what goes through them is int16 with a scale for each token, and sums are int32: exact, in whatever order a processor
// adds. All other arithmetic is float32 in an order that this file fixes, without fused multiply-add and without the C library's functions.
// So every processor gives the same bits.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off")
#endif

#include "bert.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

// What goes through a matrix has 14 bits: 1,536 products of 127 and 8,191 fit into an int32.
enum { FULL = 8191 };

// A tile is TOKENS tokens times ROWS rows of a matrix. NEAR is how many numbers of tokens stay in a processor's first cache.
enum { TOKENS = 4, ROWS = 4, NEAR = 12288 };

// A tile's function multiplies TOKENS rows of a with ROWS rows of w, each of k numbers: out[token][row].
typedef void tile_function(const int16_t *a, const int8_t *w, int k, int32_t out[TOKENS][ROWS]);

static void tile_plain(const int16_t *a, const int8_t *w, int k, int32_t out[TOKENS][ROWS]) {
	for (int t = 0; t < TOKENS; t++)
		for (int r = 0; r < ROWS; r++) {
			int32_t sum = 0;
			for (int i = 0; i < k; i++)
				sum += (int32_t)a[t * k + i] * w[r * k + i];
			out[t][r] = sum;
		}
}

#if defined(__x86_64__)
// tile_avx2 does two rows at a time: that many sums fit into the registers.
__attribute__((target("avx2"))) static void tile_avx2(const int16_t *a, const int8_t *w, int k, int32_t out[TOKENS][ROWS]) {
	for (int row = 0; row < ROWS; row += 2, w += 2 * k) {
		__m256i sums[TOKENS][2];
		for (int t = 0; t < TOKENS; t++)
			sums[t][0] = sums[t][1] = _mm256_setzero_si256();
		for (int i = 0; i < k; i += 16) {
			__m256i w0 = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(w + i)));
			__m256i w1 = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(w + k + i)));
			for (int t = 0; t < TOKENS; t++) {
				__m256i v = _mm256_loadu_si256((const __m256i *)(a + t * k + i));
				sums[t][0] = _mm256_add_epi32(sums[t][0], _mm256_madd_epi16(v, w0));
				sums[t][1] = _mm256_add_epi32(sums[t][1], _mm256_madd_epi16(v, w1));
			}
		}
		for (int t = 0; t < TOKENS; t++) {
			__m256i s = _mm256_hadd_epi32(sums[t][0], sums[t][1]);
			s = _mm256_hadd_epi32(s, s);
			_mm_storel_epi64((__m128i *)(out[t] + row), _mm_add_epi32(_mm256_castsi256_si128(s), _mm256_extracti128_si256(s, 1)));
		}
	}
}

#define VNNI "avx2,avx512f,avx512bw,avx512vnni"

__attribute__((target(VNNI))) static inline __m256i halves(__m512i v) {
	return _mm256_add_epi32(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
}

// four_sums adds up each of four vectors.
__attribute__((target(VNNI))) static inline __m128i four_sums(__m256i a, __m256i b, __m256i c, __m256i d) {
	__m256i s = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
	return _mm_add_epi32(_mm256_castsi256_si128(s), _mm256_extracti128_si256(s, 1));
}

__attribute__((target(VNNI))) static void tile_vnni(const int16_t *a, const int8_t *w, int k, int32_t out[TOKENS][ROWS]) {
	__m512i sums[TOKENS][ROWS];
#pragma GCC unroll 4
	for (int t = 0; t < TOKENS; t++)
#pragma GCC unroll 4
		for (int r = 0; r < ROWS; r++)
			sums[t][r] = _mm512_setzero_si512();
	for (int i = 0; i < k; i += 32) {
		__m512i rows[ROWS];
#pragma GCC unroll 4
		for (int r = 0; r < ROWS; r++)
			rows[r] = _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)(w + r * k + i)));
#pragma GCC unroll 4
		for (int t = 0; t < TOKENS; t++) {
			__m512i v = _mm512_loadu_si512(a + t * k + i);
#pragma GCC unroll 4
			for (int r = 0; r < ROWS; r++)
				sums[t][r] = _mm512_dpwssd_epi32(sums[t][r], v, rows[r]);
		}
	}
#pragma GCC unroll 4
	for (int t = 0; t < TOKENS; t++)
		_mm_storeu_si128((__m128i *)out[t], four_sums(halves(sums[t][0]), halves(sums[t][1]), halves(sums[t][2]), halves(sums[t][3])));
}
#elif defined(__aarch64__)
static void tile_neon(const int16_t *a, const int8_t *w, int k, int32_t out[TOKENS][ROWS]) {
	int32x4_t sums[TOKENS][ROWS];
	for (int t = 0; t < TOKENS; t++)
		for (int r = 0; r < ROWS; r++)
			sums[t][r] = vdupq_n_s32(0);
	for (int i = 0; i < k; i += 8) {
		int16x8_t rows[ROWS];
		for (int r = 0; r < ROWS; r++)
			rows[r] = vmovl_s8(vld1_s8(w + r * k + i));
		for (int t = 0; t < TOKENS; t++) {
			int16x8_t v = vld1q_s16(a + t * k + i);
			for (int r = 0; r < ROWS; r++) {
				sums[t][r] = vmlal_s16(sums[t][r], vget_low_s16(v), vget_low_s16(rows[r]));
				sums[t][r] = vmlal_s16(sums[t][r], vget_high_s16(v), vget_high_s16(rows[r]));
			}
		}
	}
	for (int t = 0; t < TOKENS; t++)
		for (int r = 0; r < ROWS; r++)
			out[t][r] = vaddvq_s32(sums[t][r]);
}
#endif

// The rest of the encoder is compiled twice: with wider registers the same operations take less time.
#define NAME(f) f##_plain
#define FOR
#define WIDTH 4
#include "encode.h"
#undef NAME
#undef FOR
#undef WIDTH

#if defined(__x86_64__)
#define NAME(f) f##_avx2
#define FOR __attribute__((target("avx2")))
#define WIDTH 8
#include "encode.h"
#endif

int bert_vector(const int32_t *tokens, int n, const int8_t *words, const char *scales, const int8_t *matrices, const float *floats, int path, float *out) {
	struct room *room = malloc(sizeof *room);
	if (!room)
		return -1;
	vector_function *vector = vector_plain;
	room->tile = tile_plain;
#if defined(__x86_64__)
	if (path != PATH_PLAIN && __builtin_cpu_supports("avx2")) {
		vector = vector_avx2;
		room->tile = tile_avx2;
		if (path != PATH_AVX2 && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw"))
			room->tile = tile_vnni;
	}
#elif defined(__aarch64__)
	if (path != PATH_PLAIN)
		room->tile = tile_neon;
#endif
	vector(room, tokens, n, words, scales, matrices, floats, out);
	free(room);
	return 0;
}
