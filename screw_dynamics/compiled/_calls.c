/* Calls of kernels from Python: the boundary between NumPy arrays and machine code. It knows no algorithm.

   A kernel is a function of Numba's calling convention: int f(result *, error **, words...), 0 on success. It trusts its
   arguments, so arrays are checked here; what needs a conversion is left to Python, by the result None. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <structmember.h>
#include <time.h>
#include <unistd.h>
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

enum { INPUTS = 5, AXES = 4, ARGUMENTS = 24, THREADS = 64 };
#define REFUSED PY_SSIZE_T_MIN      /* what a kernel returns that cannot take its arguments */
enum { COORDINATES, CONFIGURATION, WRENCHES };          /* kinds of inputs */
enum { PIECE = 8, HELD = 2 };       /* tiles that a thread takes at once; up to which the GIL is held */
typedef long long ns;
static const ns SPIN = 200000;      /* for which a worker looks out for work before it sleeps */
static const double SHORT = 15e3, ROUSING = 200e3, QUICK = 5.0;
/* ns: work that no worker shares; for which a worker is woken; of a body, as long as nobody has measured */

typedef npy_intp word;
typedef int (*algorithm)(void *result, void **error, word memory, word target, word, word, word, word, word, word out);
typedef int (*transposition)(void *result, void **error, word rows, word width, word count, word lanes);
typedef int (*gathering)(void *result, void **error, word memory, word count, word frames, word wrenches, word out);
typedef int (*kernel)(void *result, void **error, word arguments);

static struct {
    int cores;
    ns pause;                       /* between two looks for signals */
    word width;                     /* states on the lanes of double precision; twice as many of single */
    word large;                     /* numbers of a result on lanes, beyond which states are evaluated one by one */
    transposition to_lanes[2], to_rows[2];              /* by precision: double, single */
    gathering gather;
    PyObject *threads, *failed;     /* default number of threads; exception of (status, error) */
} settings = {.pause = 50000000};

static PyObject *failure(int status, void *error) {
    if (status == -1 && PyErr_Occurred()) return NULL;
    PyObject *raised = settings.failed ? PyObject_CallFunction(settings.failed, "in", status, (word)error) : NULL;
    if (raised) PyErr_SetObject((PyObject *)Py_TYPE(raised), raised);
    else if (!PyErr_Occurred()) PyErr_Format(PyExc_RuntimeError, "a kernel failed with status %d", status);
    Py_XDECREF(raised);
    return NULL;
}

static inline ns now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static inline void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* ------------------------------------------------------------------------------------------------ kernels of a robot */
typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    word number, lanes, single;     /* addresses, 0 until there is one: for one state, on lanes, in single precision */
    int targeted, inputs, ndim, kind[INPUTS];
    word width[INPUTS], dims[AXES], entries, bodies, given;         /* given: numbers of all inputs together */
    double rate;                    /* ns that a body of a state takes on one thread */
    PyArrayObject *memory;          /* the workspace for one state */
    PyObject *names;                /* index of a frame by its name */
    PyObject *entry, *shape;        /* what Python knows of the algorithm; the shape of one result */
    PyObject *idle, *make;          /* workspaces for lanes: a list of those not in use; a function that makes one */
} Bound;

/* ------------------------------------------------------------------------------------------------ a batch, on threads */
typedef struct {
    const Bound *bound;
    algorithm evaluate;
    const char *inputs[INPUTS];
    char *results;
    word target, rows, tiles, lanes;                    /* lanes: states of a tile */
    int single, threads;
    word memory[THREADS];           /* of each thread: a workspace, and room for inputs and results on lanes */
    char *room[THREADS];
    atomic_long next;
    atomic_int joined, active, status, stopped;
    _Atomic(void *) error;
} Batch;

static void evaluate_tile(Batch *b, word tile, int thread) {
    const Bound *k = b->bound;
    word size = b->single ? 4 : 8, row = tile * b->lanes, left = b->rows - row, at[INPUTS] = {0};
    char *lane = b->room[thread];
    void *result = NULL, *error = NULL;
    for (int i = 0; i < k->inputs; i++) {
        at[i] = (word)lane;
        settings.to_lanes[b->single](&result, &error, (word)(b->inputs[i] + row * k->width[i] * size), k->width[i],
                                     left, at[i]);
        lane += k->width[i] * b->lanes * size;
    }
    int status = b->evaluate(&result, &error, b->memory[thread], b->target, at[0], at[1], at[2], at[3], at[4],
                             (word)lane);
    if (status) atomic_store(&b->error, error), atomic_store(&b->status, status);
    settings.to_rows[b->single](&result, &error, (word)(b->results + row * k->entries * size), k->entries, left,
                                (word)lane);
}

/* The thread 0 is the caller's, and the one that may handle signals, if it has released the GIL. */
static void work(Batch *b, int thread, ns looked) {
    for (;;) {
        word first = atomic_fetch_add(&b->next, PIECE), last = first + PIECE;
        if (first >= b->tiles || atomic_load(&b->stopped)) return;
        for (word tile = first; tile < last && tile < b->tiles; tile++) evaluate_tile(b, tile, thread);
        if (looked && now() - looked > settings.pause) {
            PyGILState_STATE state = PyGILState_Ensure();
            if (PyErr_CheckSignals()) atomic_store(&b->stopped, 1);
            PyGILState_Release(state);
            looked = now();
        }
    }
}

/* Workers serve one batch at a time. A caller that finds them busy works alone, and waits for none that has not begun. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    Batch *batch;                   /* under the lock */
    atomic_uint generation;
    atomic_int busy, ended;
    int workers, asleep;
    ns last;                        /* when a batch ended last */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static void *serve(void *unused) {
    unsigned seen = 0;
    for (;;) {
        ns until = now() + SPIN;
        while (atomic_load(&pool.generation) == seen && now() < until)
            for (int k = 0; k < 32; k++) relax();
        pthread_mutex_lock(&pool.lock);
        while (atomic_load(&pool.generation) == seen) {
            pool.asleep++;
            pthread_cond_wait(&pool.wake, &pool.lock);
            pool.asleep--;
        }
        seen = atomic_load(&pool.generation);
        Batch *b = pool.batch;
        int thread = b ? atomic_fetch_add(&b->joined, 1) + 1 : 0;
        if (b && thread >= b->threads) b = NULL;
        if (b) atomic_fetch_add(&b->active, 1);
        pthread_mutex_unlock(&pool.lock);
        if (b) {
            work(b, thread, 0);
            atomic_fetch_sub(&b->active, 1);
        }
    }
    return unused;
}

/* Threads without signals, which are the main thread's: as many as are wanted and as the system grants. */
static void hire(int wanted) {
    sigset_t all, before;
    pthread_attr_t detached;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    while (pool.workers < wanted) {
        pthread_t thread;
        if (pthread_create(&thread, &detached, serve, NULL)) break;
        pool.workers++;
    }
    pthread_attr_destroy(&detached);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void in_child(void) {        /* threads do not survive a fork */
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.wake, NULL);
    pool.batch = NULL;
    pool.workers = pool.asleep = 0;
    atomic_store(&pool.busy, 0);
}

/* Returns how many workers had a part in it, which is 0 where they are busy. */
static int share(Batch *b, double expected, ns begin, ns looked) {
    int idle = 0;
    if (b->threads < 2 || !atomic_compare_exchange_strong(&pool.busy, &idle, 1)) {
        work(b, 0, looked);
        return 0;
    }
    hire(b->threads - 1);
    pthread_mutex_lock(&pool.lock);
    pool.batch = b;
    atomic_fetch_add(&pool.generation, 1);
    if (pool.asleep && (begin - pool.last < SPIN || expected > ROUSING)) pthread_cond_broadcast(&pool.wake);
    pthread_mutex_unlock(&pool.lock);
    work(b, 0, looked);
    pthread_mutex_lock(&pool.lock);
    pool.batch = NULL;              /* nobody joins from now on */
    pthread_mutex_unlock(&pool.lock);
    for (int looks = 1; atomic_load(&b->active); looks++)
        if (looks % 1024) relax(); else sched_yield();
    pool.last = now();
    atomic_store(&pool.busy, 0);
    int joined = atomic_load(&b->joined);
    return joined < b->threads ? joined : b->threads - 1;
}

/* Evaluate the tiles of a batch, on up to b->threads threads, and learn how long a state takes. The GIL is held. */
static int run(Bound *k, Batch *b, double expected) {
    PyObject *taken[THREADS];
    int size = b->single ? 4 : 8, failed = 0, have = 0;
    for (; have < b->threads && !failed; have++) {
        Py_ssize_t left = PyList_GET_SIZE(k->idle);
        if (left) {
            taken[have] = Py_NewRef(PyList_GET_ITEM(k->idle, left - 1));
            PyList_SetSlice(k->idle, left - 1, left, NULL);
        } else if (!(taken[have] = PyObject_CallNoArgs(k->make))) { failed = 1; break; }
        b->memory[have] = (word)PyArray_DATA((PyArrayObject *)taken[have]);
        b->room[have] = aligned_alloc(64, (size_t)((k->given + k->entries) * b->lanes * size + 63) & ~(size_t)63);
        if (!b->room[have]) { PyErr_NoMemory(); failed = 1; }
    }
    if (!failed) {
        ns begin = now(), looked = b->tiles > HELD ? begin : 0;
        PyThreadState *state = looked ? PyEval_SaveThread() : NULL;
        int workers = share(b, expected, begin, looked);
        if (state) PyEval_RestoreThread(state);
        if (b->tiles >= PIECE) {    /* with workers it is at most this; else a core may have been shared: by and by */
            double rate = (double)(now() - begin) * (1 + workers) / (double)(b->rows * k->bodies);
            if (rate < k->rate) k->rate = rate;
            else if (!workers) k->rate += (rate - k->rate < k->rate ? rate - k->rate : k->rate) / 8.0;
        }
    }
    for (int i = 0; i < have; i++) {
        free(b->room[i]);
        PyList_Append(k->idle, taken[i]);
        Py_DECREF(taken[i]);
    }
    int status = atomic_load(&b->status);
    if (!failed && status) failure(status, atomic_load(&b->error));
    return failed || status || PyErr_Occurred() ? -1 : 0;
}

/* ------------------------------------------------------------------------------------------------ arguments */
static int is_array(PyObject *x, int type, int ndim, int flags) {
    if (!PyArray_CheckExact(x)) return 0;
    PyArrayObject *a = (PyArrayObject *)x;
    return PyArray_TYPE(a) == type && PyArray_NDIM(a) == ndim && PyArray_ISNOTSWAPPED(a) && PyArray_CHKFLAGS(a, flags);
}

#define READABLE (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED)
#define DATA(x) ((char *)PyArray_DATA((PyArrayObject *)(x)))
#define DIM(x, k) PyArray_DIM((PyArrayObject *)(x), k)

/* {name of a frame: array (6,)} as the wrenches on all bodies; 0 if x is no such dictionary. */
static int gather(Bound *k, PyObject *x, double *F) {
    word frames[64];
    double wrenches[64][6];
    Py_ssize_t position = 0, count = 0;
    PyObject *name, *W;
    if (!k->names || !settings.gather || PyDict_GET_SIZE(x) > 64) return 0;
    while (PyDict_Next(x, &position, &name, &W)) {
        if (!PyUnicode_CheckExact(name) || !is_array(W, NPY_DOUBLE, 1, READABLE) || DIM(W, 0) != 6) return 0;
        PyObject *index = PyDict_GetItemWithError(k->names, name);
        if (!index) { PyErr_Clear(); return 0; }
        frames[count] = PyLong_AsSsize_t(index);
        memcpy(wrenches[count++], DATA(W), sizeof *wrenches);
    }
    void *result = NULL, *error = NULL;
    return !settings.gather(&result, &error, (word)DATA(k->memory), count, (word)frames, (word)wrenches, (word)F);
}

/* The array for results of shape ([rows,] dims): `out`, or a new one for None; NULL without an error for what does not
   fit. */
static PyObject *result_array(Bound *k, PyObject *out, int batch, word rows, int type) {
    word shape[AXES + 1] = {rows};
    for (int d = 0; d < k->ndim; d++) shape[d + batch] = k->dims[d];
    if (out == Py_None) return PyArray_SimpleNew(k->ndim + batch, shape, type);
    if (!is_array(out, type, k->ndim + batch, READABLE | NPY_ARRAY_WRITEABLE)
        || !PyArray_CompareLists(PyArray_DIMS((PyArrayObject *)out), shape, k->ndim + batch)) return NULL;
    return Py_NewRef(out);
}

static PyObject *none_or_error(void) {
    if (PyErr_Occurred()) return NULL;
    Py_RETURN_NONE;
}

static PyObject *one(Bound *k, word target, PyObject *const *x, PyObject *out) {
    word at[INPUTS] = {0};
    double *gathered = NULL, few[6 * 32];
    PyObject *found = NULL;
    if (!k->number) Py_RETURN_NONE;
    for (int i = 0; i < k->inputs; i++) {
        if (is_array(x[i], NPY_DOUBLE, 1, READABLE) && DIM(x[i], 0) == k->width[i]) at[i] = (word)DATA(x[i]);
        else if (k->kind[i] == WRENCHES && PyDict_CheckExact(x[i])) {
            double *F = k->width[i] <= 6 * 32 ? few : (gathered = malloc((size_t)k->width[i] * sizeof(double)));
            if (!F || !gather(k, x[i], F)) goto end;
            at[i] = (word)F;
        } else goto end;
    }
    if ((found = result_array(k, out, 0, 1, NPY_DOUBLE))) {
        void *result = NULL, *error = NULL;
        int status = ((algorithm)k->number)(&result, &error, (word)DATA(k->memory), target, at[0], at[1], at[2], at[3],
                                            at[4], (word)DATA(found));
        if (status) {
            Py_CLEAR(found);
            failure(status, error);
        }
    }
end:
    free(gathered);
    return found ? found : none_or_error();
}

static PyObject *many(Bound *k, word target, PyObject *const *x, PyObject *out, PyObject *threads) {
    int single = PyArray_CheckExact(out) && PyArray_TYPE((PyArrayObject *)out) == NPY_FLOAT;
    int type = single ? NPY_FLOAT : NPY_DOUBLE, size = single ? 4 : 8, wanted = 0;
    word rows = DIM(x[0], 0), lanes = settings.width << single;
    int one_by_one = k->entries * settings.width > settings.large;
    word address = one_by_one ? k->number : single ? k->single : k->lanes;
    if (!address || (one_by_one && single)) Py_RETURN_NONE;
    if (threads != Py_None) {
        if (!PyLong_CheckExact(threads)) Py_RETURN_NONE;
        long given = PyLong_AsLong(threads);
        if (given < 1) return PyErr_Clear(), Py_NewRef(Py_None);
        wanted = given < THREADS ? (int)given : THREADS;
    }
    Batch b = {.bound = k, .evaluate = (algorithm)address, .target = target, .rows = rows, .lanes = lanes,
               .tiles = (rows + lanes - 1) / lanes, .single = single};
    for (int i = 0; i < k->inputs; i++) {
        if (!is_array(x[i], type, 2, READABLE) || DIM(x[i], 0) != rows || DIM(x[i], 1) != k->width[i]) Py_RETURN_NONE;
        b.inputs[i] = DATA(x[i]);
    }
    PyObject *found = result_array(k, out, 1, rows, type);
    if (!found) return none_or_error();
    b.results = DATA(found);
    for (int i = 0; i < k->inputs && out != Py_None; i++)
        if (b.inputs[i] < b.results + rows * k->entries * size && b.results < b.inputs[i] + rows * k->width[i] * size) {
            Py_DECREF(found);
            Py_RETURN_NONE;
        }
    if (one_by_one) {
        for (word row = 0; row < rows; row++) {
            word at[INPUTS] = {0};
            void *result = NULL, *error = NULL;
            for (int i = 0; i < k->inputs; i++) at[i] = (word)(b.inputs[i] + row * k->width[i] * 8);
            int status = b.evaluate(&result, &error, (word)DATA(k->memory), target, at[0], at[1], at[2], at[3], at[4],
                                    (word)(b.results + row * k->entries * 8));
            if (status ? !failure(status, error) : PyErr_CheckSignals()) return Py_DECREF(found), NULL;
        }
        return found;
    }
    double expected = (double)(rows * k->bodies) * k->rate;
    if (expected <= SHORT) wanted = 1;
    else if (!wanted) {
        PyObject *number = PyObject_CallNoArgs(settings.threads);
        wanted = number ? (int)PyLong_AsLong(number) : 0;
        Py_XDECREF(number);
        if (wanted < 1) return Py_DECREF(found), NULL;
        wanted = wanted < THREADS ? wanted : THREADS;
    }
    if (wanted > settings.cores) wanted = settings.cores;
    b.threads = wanted < b.tiles ? wanted : (int)b.tiles;
    if (rows && run(k, &b, expected)) return Py_DECREF(found), NULL;
    return found;
}

static PyObject *bound_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *keywords) {
    Bound *k = (Bound *)self;
    Py_ssize_t count = PyVectorcall_NARGS(nargsf), expected = k->targeted + k->inputs + 2;
    if (keywords || count != expected)
        return PyErr_Format(PyExc_TypeError, "%zd arguments, all by position, are needed: %s%d inputs, out, threads",
                            expected, k->targeted ? "target, " : "", k->inputs);
    word target = k->targeted ? PyLong_AsSsize_t(*args++) : 0;
    if (target == -1 && PyErr_Occurred()) return NULL;
    PyObject *out = args[k->inputs], *threads = args[k->inputs + 1];
    if (!PyArray_CheckExact(args[0])) Py_RETURN_NONE;
    int ndim = PyArray_NDIM((PyArrayObject *)args[0]);
    if (ndim == 1 && threads == Py_None) return one(k, target, args, out);
    if (ndim == 2) return many(k, target, args, out, threads);
    Py_RETURN_NONE;
}

static PyObject *bound_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"entry", "memory", "widths", "kinds", "shape", "targeted", "bodies", "names", "idle", "make", NULL};
    PyObject *entry, *memory, *widths, *kinds, *shape, *frames, *idle, *make;
    int targeted;
    Py_ssize_t bodies;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO!O!O!O!pnOO!O", names, &entry, &PyArray_Type, &memory,
                                     &PyTuple_Type, &widths, &PyTuple_Type, &kinds, &PyTuple_Type, &shape, &targeted, &bodies,
                                     &frames, &PyList_Type, &idle, &make)) return NULL;
    if (PyTuple_GET_SIZE(widths) > INPUTS || PyTuple_GET_SIZE(kinds) != PyTuple_GET_SIZE(widths)
        || PyTuple_GET_SIZE(shape) > AXES)
        return PyErr_Format(PyExc_ValueError, "at most %d inputs and %d axes of a result", INPUTS, AXES);
    Bound *k = (Bound *)type->tp_alloc(type, 0);
    if (!k) return NULL;
    k->vectorcall = bound_call, k->targeted = targeted, k->bodies = bodies, k->rate = QUICK, k->entries = 1;
    k->inputs = (int)PyTuple_GET_SIZE(widths), k->ndim = (int)PyTuple_GET_SIZE(shape);
    for (int i = 0; i < k->inputs; i++) {
        k->given += k->width[i] = PyLong_AsSsize_t(PyTuple_GET_ITEM(widths, i));
        k->kind[i] = (int)PyLong_AsLong(PyTuple_GET_ITEM(kinds, i));
    }
    for (int d = 0; d < k->ndim; d++) k->entries *= k->dims[d] = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, d));
    k->memory = (PyArrayObject *)Py_NewRef(memory), k->names = frames == Py_None ? NULL : Py_NewRef(frames);
    k->idle = Py_NewRef(idle), k->make = Py_NewRef(make), k->entry = Py_NewRef(entry);
    k->shape = Py_NewRef(shape);
    if (PyErr_Occurred()) Py_CLEAR(k);
    return (PyObject *)k;
}

static int bound_traverse(PyObject *self, visitproc visit, void *arg) {
    Bound *k = (Bound *)self;
    Py_VISIT(k->names);
    Py_VISIT(k->idle);
    Py_VISIT(k->make);
    Py_VISIT(k->entry);
    Py_VISIT(k->shape);
    return 0;
}

static int bound_clear(PyObject *self) {
    Bound *k = (Bound *)self;
    Py_CLEAR(k->memory);
    Py_CLEAR(k->names);
    Py_CLEAR(k->idle);
    Py_CLEAR(k->make);
    Py_CLEAR(k->entry);
    Py_CLEAR(k->shape);
    return 0;
}

static void bound_free(PyObject *self) {
    PyObject_GC_UnTrack(self);
    bound_clear(self);
    Py_TYPE(self)->tp_free(self);
}

static PyMemberDef bound_members[] = {
    {"entry", T_OBJECT_EX, offsetof(Bound, entry), READONLY, "the algorithm"},
    {"shape", T_OBJECT_EX, offsetof(Bound, shape), READONLY, "the shape of one result"},
    {"memory", T_OBJECT_EX, offsetof(Bound, memory), READONLY, "the workspace for one state"},
    {"number", T_PYSSIZET, offsetof(Bound, number), 0, "address of the kernel for one state, or 0"},
    {"lanes", T_PYSSIZET, offsetof(Bound, lanes), 0, "address of the kernel on lanes, or 0"},
    {"single", T_PYSSIZET, offsetof(Bound, single), 0, "address of the kernel in single precision, or 0"},
    {NULL}};

static PyTypeObject BoundType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "screw_dynamics.compiled._calls.BoundKernel",
    .tp_basicsize = sizeof(Bound), .tp_new = bound_new, .tp_dealloc = bound_free, .tp_traverse = bound_traverse,
    .tp_clear = bound_clear, .tp_members = bound_members, .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Bound, vectorcall),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_doc = "A kernel of a robot: kernel([target,] *inputs, out, threads) returns the result, of one state or of a "
              "batch (N, ...); None, with nothing done, for arguments that Python has to convert."};

/* ------------------------------------------------------------------------------------------------ kernels of any kind */
/* An array as a kernel reads it; array_views.py has the same. */
typedef struct { word data, ndim, type, flags, shape[AXES], strides[AXES]; } View;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    word address;
    int without_gil;
    char kinds[ARGUMENTS + 1];
} Kernel;

/* Write an argument as a word: 'a', the address of its view if it is an array, else 0; 'd', the bits of a number; 'i',
   an integer; 'b', a truth value. Returns 0 for what is not of the kind. */
static int put_word(char kind, PyObject *x, word *at, View *view) {
    *at = 0;
    if (kind == 'a') {
        if (!PyArray_CheckExact(x)) return 1;
        PyArrayObject *a = (PyArrayObject *)x;
        if (PyArray_NDIM(a) > AXES) return 1;
        *view = (View){(word)PyArray_DATA(a), PyArray_NDIM(a), PyArray_ISNOTSWAPPED(a) ? PyArray_TYPE(a) : -1,
                       PyArray_FLAGS(a), {0}, {0}};
        memcpy(view->shape, PyArray_DIMS(a), (size_t)view->ndim * sizeof(word));
        memcpy(view->strides, PyArray_STRIDES(a), (size_t)view->ndim * sizeof(word));
        *at = (word)view;
    } else if (kind == 'd') {
        if (PyArray_Check(x)) return 0;
        double number = PyFloat_AsDouble(x);
        if (number == -1.0 && PyErr_Occurred()) return 0;
        memcpy(at, &number, sizeof number);
    } else if (kind == 'b') {
        if (!PyBool_Check(x) && !PyArray_IsScalar(x, Bool)) return 0;
        *at = PyObject_IsTrue(x);
    } else {
        if (PyArray_Check(x) || PyBool_Check(x)) return 0;
        *at = PyNumber_AsSsize_t(x, PyExc_OverflowError);
        if (*at == -1 && PyErr_Occurred()) return 0;
    }
    return 1;
}

static PyObject *kernel_call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *keywords) {
    Kernel *k = (Kernel *)self;
    size_t count = (size_t)PyVectorcall_NARGS(nargsf);
    word words[ARGUMENTS];
    View views[ARGUMENTS];
    if (keywords || count != strlen(k->kinds)) Py_RETURN_NONE;
    for (size_t i = 0; i < count; i++)
        if (!put_word(k->kinds[i], args[i], words + i, views + i)) {
            PyErr_Clear();
            Py_RETURN_NONE;
        }
    word result = 0;
    void *error = NULL;
    PyThreadState *state = k->without_gil ? PyEval_SaveThread() : NULL;
    int status = ((kernel)k->address)(&result, &error, (word)words);
    if (state) PyEval_RestoreThread(state);
    if (status) return failure(status, error);
    if (result == REFUSED) Py_RETURN_NONE;
    return PyLong_FromSsize_t(result);
}

static PyObject *kernel_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
    static char *names[] = {"address", "kinds", "without_gil", NULL};
    Py_ssize_t address;
    const char *kinds;
    int without_gil = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "ns|p", names, &address, &kinds, &without_gil)) return NULL;
    if (strlen(kinds) > ARGUMENTS || strspn(kinds, "abdi") != strlen(kinds))
        return PyErr_Format(PyExc_ValueError, "kinds %s must be up to %d of a, b, d, i", kinds, ARGUMENTS);
    Kernel *k = (Kernel *)type->tp_alloc(type, 0);
    if (!k) return NULL;
    k->vectorcall = kernel_call, k->address = address, k->without_gil = without_gil;
    strcpy(k->kinds, kinds);
    return (PyObject *)k;
}

static PyTypeObject KernelType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "screw_dynamics.compiled._calls.Kernel",
    .tp_basicsize = sizeof(Kernel), .tp_new = kernel_new, .tp_call = PyVectorcall_Call,
    .tp_vectorcall_offset = offsetof(Kernel, vectorcall),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_doc = "Kernel(address, kinds, without_gil=False): a kernel that returns an integer. kinds of its arguments: a, an "
              "array; b, a truth value; d, a number; i, an integer. A call returns None for arguments of other kinds, or "
              "such as the kernel refuses."};

/* ------------------------------------------------------------------------------------------------ module */
static PyObject *configure(PyObject *module, PyObject *args, PyObject *keywords) {
    static char *names[] = {"width", "large", "to_lanes", "to_rows", "to_lanes_single", "to_rows_single", "gather", "threads",
                            "failed", "pause", NULL};
    word width = settings.width, large = settings.large, in[2] = {0}, out[2] = {0}, gathering_at = 0;
    PyObject *threads = NULL, *failed = NULL;
    Py_ssize_t pause = settings.pause;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$nnnnnnnOOn", names, &width, &large, in, out, in + 1, out + 1,
                                     &gathering_at, &threads, &failed, &pause)) return NULL;
    settings.width = width, settings.large = large, settings.pause = pause;
    for (int i = 0; i < 2; i++) {
        if (in[i]) settings.to_lanes[i] = (transposition)in[i];
        if (out[i]) settings.to_rows[i] = (transposition)out[i];
    }
    if (gathering_at) settings.gather = (gathering)gathering_at;
    if (threads) Py_XSETREF(settings.threads, Py_NewRef(threads));
    if (failed) Py_XSETREF(settings.failed, Py_NewRef(failed));
    Py_RETURN_NONE;
}

static PyObject *workers(PyObject *module, PyObject *unused) {
    return PyLong_FromLong(pool.workers);
}

static PyMethodDef methods[] = {
    {"configure", (PyCFunction)(void (*)(void))configure, METH_VARARGS | METH_KEYWORDS,
     "Set addresses of kernels that all calls use, and functions of Python."},
    {"workers", workers, METH_NOARGS, "Return how many threads this module has started."},
    {NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_calls", "Calls of kernels on NumPy arrays.", -1, methods};

PyMODINIT_FUNC PyInit__calls(void) {
    import_array();
    PyObject *m = PyModule_Create(&module);
    if (!m || PyModule_AddType(m, &BoundType) || PyModule_AddType(m, &KernelType)) return NULL;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    settings.cores = cores > 1 ? (int)cores : 1;
    pthread_atfork(NULL, NULL, in_child);
    return m;
}
