/* What kernels call of Numba's runtime: memory of arrays that live as long as a call, and Python's lock. */
#include <stdlib.h>

int PyGILState_Ensure(void);        /* of the process that loads a kernel */
void PyGILState_Release(int);

typedef struct {
    size_t references;
    void (*destroy)(void *, size_t, void *);
    void *details, *data;
    size_t size;
    void *external;
} MemInfo;

static void *allocated(size_t size)
{
    const size_t head = (sizeof(MemInfo) + 63) / 64 * 64;
    char *block = aligned_alloc(64, (head + size + 63) / 64 * 64);
    if (!block)
        return NULL;
    MemInfo *info = (MemInfo *)block;
    *info = (MemInfo){1, NULL, NULL, block + head, size, NULL};
    return info;
}

void *NRT_MemInfo_alloc(size_t size) { return allocated(size); }
void *NRT_MemInfo_alloc_aligned(size_t size, unsigned align) { (void)align; return allocated(size); }
void *NRT_MemInfo_alloc_safe_aligned(size_t size, unsigned align) { (void)align; return allocated(size); }
void NRT_MemInfo_call_dtor(void *info) { free(info); }
void numba_gil_ensure(int *state) { *state = PyGILState_Ensure(); }
void numba_gil_release(int *state) { PyGILState_Release(*state); }
