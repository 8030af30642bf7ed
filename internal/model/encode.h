// Included by bert.c for each path: NAME(f) is f's name there, FOR what it is compiled for, WIDTH how many
// numbers a register has. All rows of numbers have a multiple of LANES.

#ifndef LANES
#define LANES 8

// eight is LANES numbers, which operators treat one by one.
typedef float eight __attribute__((vector_size(4 * LANES), aligned(4)));
typedef int32_t eight_ints __attribute__((vector_size(4 * LANES), aligned(4)));
typedef int16_t eight_shorts __attribute__((vector_size(2 * LANES), aligned(2)));
typedef float four __attribute__((vector_size(4 * ROWS), aligned(4)));
typedef int32_t four_ints __attribute__((vector_size(4 * ROWS)));

// PICK is the first where a comparison holds, else the second.
#define PICK(holds, first, second) ((eight)(((holds) & (eight_ints)(first)) | (~(holds) & (eight_ints)(second))))

// room is what a text needs on its way.
struct room {
	tile_function *tile;
	float x[MOST * DIM];           // the text, a row a token
	float y[MOST * INNER];         // what came out of a matrix
	float mixed[MOST * DIM];       // what heads made of it
	float keys[HEAD * MOST];       // of one head, a row a dimension
	float attention[TOKENS][MOST]; // of some tokens, over all tokens
	int16_t a[MOST * INNER];       // what goes into a matrix
	float scales[MOST];            // of a, a token each
};

typedef void vector_function(struct room *, const int32_t *tokens, int n, const int8_t *words, const char *scales, const int8_t *matrix, const float *floats, float *out);
#endif

FOR static inline eight NAME(load)(const float *p) { return *(const eight *)p; }
FOR static inline void NAME(store)(float *p, eight v) { *(eight *)p = v; }
FOR static inline eight NAME(all)(float x) { return (eight){x, x, x, x, x, x, x, x}; }

FOR static inline float NAME(total)(eight v) { return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7])); }

// exponential is e^x for x from -87 to 0, within 2 units of the last place (the polynomial of Cephes' expf).
FOR static inline eight NAME(exponential)(eight x) {
	x = PICK(x < -87.0f, NAME(all)(-87.0f), x);
	eight_ints n = __builtin_convertvector(x * 1.44269504f - 0.5f, eight_ints);
	eight f = __builtin_convertvector(n, eight);
	eight r = x - f * 0.693359375f + f * 2.12194440e-4f;
	eight p = NAME(all)(1.9875691500e-4f);
	p = p * r + 1.3981999507e-3f;
	p = p * r + 8.3334519073e-3f;
	p = p * r + 4.1665795894e-2f;
	p = p * r + 1.6666665459e-1f;
	p = p * r + 5.0000001201e-1f;
	p = p * r * r + r + 1.0f;
	eight_ints power = (n + 127) << 23;
	return p * (eight)power;
}

// gelu is x times the normal distribution's integral up to x; the error function's error is below 1.5e-7 (Abramowitz and Stegun, 7.1.26).
FOR static inline eight NAME(gelu)(eight x) {
	eight z = PICK(x < 0.0f, -x, x) * 0.70710678f;
	eight t = 1.0f / (1.0f + 0.3275911f * z);
	eight p = NAME(all)(1.061405429f);
	p = p * t - 1.453152027f;
	p = p * t + 1.421413741f;
	p = p * t - 0.284496736f;
	p = p * t + 0.254829592f;
	eight erf = 1.0f - p * t * NAME(exponential)(-z * z);
	erf = PICK(x < 0.0f, -erf, erf);
	return 0.5f * x * (1.0f + erf);
}

// norm makes mean 0 and variance 1 of each row of x, then scales and shifts.
FOR static void NAME(norm)(float *x, int n, const float *weight, const float *bias) {
	for (int t = 0; t < n; t++, x += DIM) {
		eight sum = NAME(all)(0), squares = sum;
		for (int i = 0; i < DIM; i += LANES)
			sum += NAME(load)(x + i);
		float mean = NAME(total)(sum) / DIM;
		for (int i = 0; i < DIM; i += LANES) {
			eight d = NAME(load)(x + i) - mean;
			squares += d * d;
		}
		float inverse = 1.0f / __builtin_sqrtf(NAME(total)(squares) / DIM + 1e-12f);
		for (int i = 0; i < DIM; i += LANES)
			NAME(store)(x + i, (NAME(load)(x + i) - mean) * inverse * NAME(load)(weight + i) + NAME(load)(bias + i));
	}
}

// quantise makes integers of n rows of k numbers, for a matrix.
FOR static void NAME(quantise)(struct room *room, const float *x, int n, int k) {
	for (int t = 0; t < n; t++, x += k) {
		eight most = NAME(all)(1e-12f);
		for (int i = 0; i < k; i += LANES) {
			eight v = NAME(load)(x + i), size = PICK(v < 0.0f, -v, v);
			most = PICK(size > most, size, most);
		}
		float largest = most[0];
		for (int i = 1; i < LANES; i++)
			largest = most[i] > largest ? most[i] : largest;
		float scale = FULL / largest;
		int16_t *a = room->a + t * k;
		for (int i = 0; i < k; i += LANES) {
			eight v = NAME(load)(x + i) * scale;
			eight_ints q = __builtin_convertvector(v + PICK(v < 0.0f, NAME(all)(-0.5f), NAME(all)(0.5f)), eight_ints);
			*(eight_shorts *)(a + i) = __builtin_convertvector(q, eight_shorts);
		}
		room->scales[t] = largest / FULL;
	}
}

// multiply puts n rows of x, k numbers each, through a matrix of so many rows, into room->y. floats are the rows' scales and biases. The
// matrix passes by once for as many tokens as stay near the processor.
FOR static void NAME(multiply)(struct room *room, const float *x, int n, int k, const int8_t *matrix, int rows, const float *floats) {
	NAME(quantise)(room, x, n, k);
	four_ints out[TOKENS];
	for (int first = 0; first < n; first += NEAR / k) {
		int last = n - first < NEAR / k ? n : first + NEAR / k;
		for (int r = 0; r < rows; r += ROWS) {
			four scales = *(const four *)(floats + r), bias = *(const four *)(floats + rows + r);
			for (int t = first; t < last; t += TOKENS) { // what lies behind the last token is not used
				room->tile(room->a + t * k, matrix + (size_t)r * k, k, (int32_t(*)[ROWS])out);
				for (int i = 0; i < TOKENS && t + i < last; i++)
					*(four *)(room->y + (t + i) * rows + r) = __builtin_convertvector(out[i], four) * (room->scales[t + i] * scales) + bias;
			}
		}
	}
}

// weigh makes weights of the likeness of one token to each of n: e^x each, 0 up to wide. It returns one by their sum.
FOR static float NAME(weigh)(float *attention, int n, int wide) {
	const eight_ints lanes = {0, 1, 2, 3, 4, 5, 6, 7};
	eight most = NAME(all)(-1e30f), sum = NAME(all)(0);
	for (int s = 0; s < wide; s += LANES) {
		eight likeness = PICK(lanes + s < n, NAME(load)(attention + s), NAME(all)(-1e30f));
		most = PICK(likeness > most, likeness, most);
	}
	float largest = most[0];
	for (int i = 1; i < LANES; i++)
		largest = most[i] > largest ? most[i] : largest;
	for (int s = 0; s < wide; s += LANES) {
		eight e = PICK(lanes + s < n, NAME(exponential)(NAME(load)(attention + s) - largest), NAME(all)(0));
		NAME(store)(attention + s, e);
		sum += e;
	}
	return 1.0f / NAME(total)(sum);
}

// attend mixes, for one head, the values of all tokens into each token. y has queries, keys and values beside each other. Several tokens
// go together, so that additions need not wait for each other; where there are too few, the last one goes again.
FOR static void NAME(attend)(struct room *room, int n, int head) {
	typedef float vector __attribute__((vector_size(4 * WIDTH), aligned(4)));
	const float *y = room->y + head * HEAD;
	int wide = (n + 2 * LANES - 1) / (2 * LANES) * (2 * LANES);
	for (int i = 0; i < HEAD; i++) {
		for (int t = 0; t < n; t++)
			room->keys[i * MOST + t] = y[t * 3 * DIM + DIM + i];
		for (int t = n; t < wide; t++)
			room->keys[i * MOST + t] = 0;
	}
	for (int t = 0; t < n; t += TOKENS) {
		int token[TOKENS];
		float inverse[TOKENS];
		for (int j = 0; j < TOKENS; j++)
			token[j] = t + j < n ? t + j : n - 1;
		for (int s = 0; s < wide; s += 2 * WIDTH) {
			vector likeness[TOKENS][2] = {0};
			for (int i = 0; i < HEAD; i++) {
				const vector *keys = (const vector *)(room->keys + i * MOST + s);
				for (int j = 0; j < TOKENS; j++) {
					float query = y[token[j] * 3 * DIM + i];
					likeness[j][0] += query * keys[0];
					likeness[j][1] += query * keys[1];
				}
			}
			for (int j = 0; j < TOKENS; j++)
				for (int k = 0; k < 2; k++)
					((vector *)(room->attention[j] + s))[k] = likeness[j][k] * 0.17677670f; // one by the root of HEAD
		}
		for (int j = 0; j < TOKENS; j++)
			inverse[j] = NAME(weigh)(room->attention[j], n, wide);
		for (int i = 0; i < HEAD; i += 2 * WIDTH) {
			vector mixed[TOKENS][2] = {0};
			for (int s = 0; s < n; s++) {
				const vector *values = (const vector *)(y + s * 3 * DIM + 2 * DIM + i);
				for (int j = 0; j < TOKENS; j++) {
					mixed[j][0] += room->attention[j][s] * values[0];
					mixed[j][1] += room->attention[j][s] * values[1];
				}
			}
			for (int j = 0; j < TOKENS; j++)
				for (int k = 0; k < 2; k++)
					((vector *)(room->mixed + token[j] * DIM + head * HEAD + i))[k] = mixed[j][k] * inverse[j];
		}
	}
}

// add adds room->y to x.
FOR static void NAME(add)(struct room *room, int n) {
	for (int i = 0; i < n * DIM; i += LANES)
		NAME(store)(room->x + i, NAME(load)(room->x + i) + NAME(load)(room->y + i));
}

FOR static void NAME(vector)(struct room *room, const int32_t *tokens, int n, const int8_t *words, const char *scales, const int8_t *matrix, const float *floats, float *out) {
	for (int t = 0; t < n; t++) {
		float scale;
		memcpy(&scale, scales + 4 * (size_t)tokens[t], 4);
		for (int i = 0; i < DIM; i++)
			room->x[t * DIM + i] = (float)words[(size_t)tokens[t] * DIM + i] * scale + floats[t * DIM + i];
	}
	floats += MOST * DIM;
	NAME(norm)(room->x, n, floats, floats + DIM);
	floats += 2 * DIM;
	for (int layer = 0; layer < LAYERS; layer++) {
		NAME(multiply)(room, room->x, n, DIM, matrix, 3 * DIM, floats);
		matrix += 3 * DIM * DIM, floats += 2 * 3 * DIM;
		for (int head = 0; head < HEADS; head++)
			NAME(attend)(room, n, head);
		NAME(multiply)(room, room->mixed, n, DIM, matrix, DIM, floats);
		NAME(add)(room, n);
		matrix += DIM * DIM, floats += 2 * DIM;
		NAME(norm)(room->x, n, floats, floats + DIM);
		floats += 2 * DIM;
		NAME(multiply)(room, room->x, n, DIM, matrix, INNER, floats);
		matrix += INNER * DIM, floats += 2 * INNER;
		for (int i = 0; i < n * INNER; i += LANES)
			NAME(store)(room->y + i, NAME(gelu)(NAME(load)(room->y + i)));
		NAME(multiply)(room, room->y, n, INNER, matrix, DIM, floats);
		NAME(add)(room, n);
		matrix += DIM * INNER, floats += 2 * DIM;
		NAME(norm)(room->x, n, floats, floats + DIM);
		floats += 2 * DIM;
	}
	memset(out, 0, DIM * sizeof *out);
	eight squares = NAME(all)(0);
	for (int i = 0; i < DIM; i += LANES) {
		eight sum = NAME(all)(0);
		for (int t = 0; t < n; t++)
			sum += NAME(load)(room->x + t * DIM + i);
		NAME(store)(out + i, sum);
		squares += sum * sum;
	}
	float inverse = 1.0f / __builtin_sqrtf(NAME(total)(squares));
	for (int i = 0; i < DIM; i += LANES)
		NAME(store)(out + i, NAME(load)(out + i) * inverse);
}
