// A VFS of SQLite that keeps a sum at the end of each page of a database: see pagesum.go.

#include <stdint.h>
#include <string.h>
#include "sqlite3vfs.h"

#define IOERR_DATA (10 | (32 << 8))
#define OPEN_MAIN_DB 0x100
#define SUBPAGE_READ 0x8000 // of a device: that parts of pages may be read, which nobody could check
#define PAGE_LEAST 512       // bytes of the smallest page; shorter reads are of the header
#define SUM 8
#define KNOWN (1 << 16) // pages that are remembered: those of 1 GB, the most that is mapped, at 16 KB

typedef struct File {
	sqlite3_file base;
	int sums;                       // the header says that pages end with one
	unsigned char known[KNOWN / 8]; // by page, a bit: it was mapped and right since the last lock
} File;                             // the file of the system follows

#define SYSTEM(file) ((sqlite3_file *)&((File *)(file))[1])
#define METHODS(file) SYSTEM(file)->pMethods

static sqlite3_vfs *lower(sqlite3_vfs *vfs) { return (sqlite3_vfs *)vfs->pAppData; }

// sum is the one of cksumvfs: two sums of words, the second one of the first.
static void sum(const unsigned char *page, int bytes, unsigned char out[SUM]) {
	uint32_t a = 0, b = 0, words[2];
	for (int i = 0; i < bytes; i += 8) {
		memcpy(words, page + i, 8);
		a += words[0] + b;
		b += words[1] + a;
	}
	memcpy(out, &a, 4);
	memcpy(out + 4, &b, 4);
}

static void look(File *f, const void *page, int bytes, sqlite3_int64 at) {
	if (at == 0 && bytes >= 100 && memcmp(page, "SQLite format 3", 16) == 0)
		f->sums = ((const unsigned char *)page)[20] == SUM;
}

static int check(File *f, const void *page, int bytes, sqlite3_int64 at) {
	unsigned char want[SUM];
	look(f, page, bytes, at);
	if (!f->sums || bytes < PAGE_LEAST)
		return 0;
	sum(page, bytes - SUM, want);
	return memcmp((const unsigned char *)page + bytes - SUM, want, SUM) == 0 ? 0 : IOERR_DATA;
}

static int pRead(sqlite3_file *f, void *page, int bytes, sqlite3_int64 at) {
	int rc = METHODS(f)->xRead(SYSTEM(f), page, bytes, at);
	return rc ? rc : check((File *)f, page, bytes, at);
}

// SQLite gives the page as it keeps it, or a copy: what is reserved in it is nobody else's.
static int pWrite(sqlite3_file *f, const void *page, int bytes, sqlite3_int64 at) {
	look((File *)f, page, bytes, at);
	if (((File *)f)->sums && bytes >= PAGE_LEAST)
		sum(page, bytes - SUM, (unsigned char *)page + bytes - SUM);
	return METHODS(f)->xWrite(SYSTEM(f), page, bytes, at);
}

// SQLite fetches a page anew at each step through a tree, so it is looked at once.
static int pFetch(sqlite3_file *f, sqlite3_int64 at, int bytes, void **page) {
	int rc;
	sqlite3_int64 n = bytes >= PAGE_LEAST ? at / bytes : KNOWN;
	unsigned char none = 0, *known = n < KNOWN ? &((File *)f)->known[n / 8] : &none, bit = 1 << n % 8;
	*page = 0;
	if (METHODS(f)->iVersion < 3 || !METHODS(f)->xFetch)
		return 0;
	rc = METHODS(f)->xFetch(SYSTEM(f), at, bytes, page);
	if (rc != 0 || !*page || *known & bit)
		return rc;
	if ((rc = check((File *)f, *page, bytes, at)) != 0) {
		METHODS(f)->xUnfetch(SYSTEM(f), at, *page);
		*page = 0;
	} else {
		*known |= bit;
	}
	return rc;
}

static int pUnfetch(sqlite3_file *f, sqlite3_int64 at, void *page) {
	return METHODS(f)->iVersion < 3 || !METHODS(f)->xUnfetch ? 0 : METHODS(f)->xUnfetch(SYSTEM(f), at, page);
}

static int pClose(sqlite3_file *f) { return METHODS(f)->xClose(SYSTEM(f)); }
static int pTruncate(sqlite3_file *f, sqlite3_int64 size) { return METHODS(f)->xTruncate(SYSTEM(f), size); }
static int pSync(sqlite3_file *f, int flags) { return METHODS(f)->xSync(SYSTEM(f), flags); }
static int pFileSize(sqlite3_file *f, sqlite3_int64 *size) { return METHODS(f)->xFileSize(SYSTEM(f), size); }
static int pLock(sqlite3_file *f, int lock) { return METHODS(f)->xLock(SYSTEM(f), lock); }
static int pUnlock(sqlite3_file *f, int lock) { return METHODS(f)->xUnlock(SYSTEM(f), lock); }
static int pReserved(sqlite3_file *f, int *out) { return METHODS(f)->xCheckReservedLock(SYSTEM(f), out); }
static int pControl(sqlite3_file *f, int op, void *arg) { return METHODS(f)->xFileControl(SYSTEM(f), op, arg); }
static int pSector(sqlite3_file *f) { return METHODS(f)->xSectorSize(SYSTEM(f)); }
static int pDevice(sqlite3_file *f) { return METHODS(f)->xDeviceCharacteristics(SYSTEM(f)) & ~SUBPAGE_READ; }
static int pShmMap(sqlite3_file *f, int page, int size, int extend, void volatile **out) { return METHODS(f)->xShmMap(SYSTEM(f), page, size, extend, out); }

// Between two locks another process may write pages; while one is held it writes none that are read here.
static int pShmLock(sqlite3_file *f, int offset, int n, int flags) {
	memset(((File *)f)->known, 0, sizeof(((File *)f)->known));
	return METHODS(f)->xShmLock(SYSTEM(f), offset, n, flags);
}

static void pShmBarrier(sqlite3_file *f) { METHODS(f)->xShmBarrier(SYSTEM(f)); }
static int pShmUnmap(sqlite3_file *f, int remove) { return METHODS(f)->xShmUnmap(SYSTEM(f), remove); }

static const sqlite3_io_methods methods = {
	3, pClose, pRead, pWrite, pTruncate, pSync, pFileSize, pLock, pUnlock, pReserved, pControl, pSector, pDevice,
	pShmMap, pShmLock, pShmBarrier, pShmUnmap, pFetch, pUnfetch,
};

static int vOpen(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *out) {
	if (!(flags & OPEN_MAIN_DB))
		return lower(vfs)->xOpen(lower(vfs), name, f, flags, out);
	memset(f, 0, sizeof(File));
	int rc = lower(vfs)->xOpen(lower(vfs), name, SYSTEM(f), flags, out);
	f->pMethods = SYSTEM(f)->pMethods ? &methods : 0; // SQLite closes what has methods, also after an error
	return rc;
}

static int vDelete(sqlite3_vfs *vfs, const char *name, int sync) { return lower(vfs)->xDelete(lower(vfs), name, sync); }
static int vAccess(sqlite3_vfs *vfs, const char *name, int flags, int *out) { return lower(vfs)->xAccess(lower(vfs), name, flags, out); }
static int vFullPathname(sqlite3_vfs *vfs, const char *name, int n, char *out) { return lower(vfs)->xFullPathname(lower(vfs), name, n, out); }
static void *vDlOpen(sqlite3_vfs *vfs, const char *name) { return lower(vfs)->xDlOpen(lower(vfs), name); }
static void vDlError(sqlite3_vfs *vfs, int n, char *out) { lower(vfs)->xDlError(lower(vfs), n, out); }
static void (*vDlSym(sqlite3_vfs *vfs, void *p, const char *symbol))(void) { return lower(vfs)->xDlSym(lower(vfs), p, symbol); }
static void vDlClose(sqlite3_vfs *vfs, void *p) { lower(vfs)->xDlClose(lower(vfs), p); }
static int vRandomness(sqlite3_vfs *vfs, int n, char *out) { return lower(vfs)->xRandomness(lower(vfs), n, out); }
static int vSleep(sqlite3_vfs *vfs, int microseconds) { return lower(vfs)->xSleep(lower(vfs), microseconds); }
static int vCurrentTime(sqlite3_vfs *vfs, double *out) { return lower(vfs)->xCurrentTime(lower(vfs), out); }
static int vGetLastError(sqlite3_vfs *vfs, int n, char *out) { return lower(vfs)->xGetLastError(lower(vfs), n, out); }
static int vCurrentTimeInt64(sqlite3_vfs *vfs, sqlite3_int64 *out) { return lower(vfs)->xCurrentTimeInt64(lower(vfs), out); }

static sqlite3_vfs around = {
	2, 0, 0, 0, "pagesum", 0, vOpen, vDelete, vAccess, vFullPathname, vDlOpen, vDlError, vDlSym, vDlClose,
	vRandomness, vSleep, vCurrentTime, vGetLastError, vCurrentTimeInt64, 0, 0, 0,
};

int rekal_pagesum_register(void) {
	sqlite3_vfs *system = sqlite3_vfs_find(0);
	if (!system || system->iVersion < 2)
		return 1;
	around.pAppData = system;
	around.szOsFile = system->szOsFile + (int)sizeof(File);
	around.mxPathname = system->mxPathname;
	return sqlite3_vfs_register(&around, 0);
}
