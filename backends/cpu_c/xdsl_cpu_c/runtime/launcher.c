/* Launcher of compiled kernels: checks Python arguments, packs them into slots and runs the kernel without the GIL.
 *
 * It uses the buffer protocol only, so it needs Python.h and no other header; objects without a buffer go through
 * the Python function `extent_of`. Its twin in Python is fallback.py: both answer the same way. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <structmember.h>

enum { OK = 0, ALIASED = 1, GRID = -1, LOCAL_ARGUMENTS = 16 };
static const long long GRID_LIMIT = 2147483647;

typedef int (*launch_function)(uintptr_t body, const uint64_t *parameters, int64_t count, int64_t grid_x,
                               int64_t grid_y, int64_t grid_z, int threads, double *ns_per_program);

enum kind { POINTER, INTEGER, FLOAT, BOOLEAN };

struct parameter {
    enum kind kind;
    char written, read, is_signed;
    int bits;
    Py_ssize_t itemsize;
};

typedef struct {
    PyObject_HEAD
    vectorcallfunc call;
    uintptr_t body;
    launch_function launch;
    PyObject *extent_of; /* for objects without a buffer */
    PyObject *fault;     /* class ArgumentFault(index, reason) */
    double ns_per_program;
    int threads;
    char aliased_ok;
    Py_ssize_t count;
    struct parameter *parameters;
} Launcher;

/* Bytes [low, high) that a pointer argument may reach. */
struct range {
    uintptr_t low, high;
};

/* State of one call; `held` buffers are released when it ends. */
struct call {
    uint64_t *slots;
    struct range *ranges;
    Py_buffer *buffers;
    int held;
};

static int fault(Launcher *self, Py_ssize_t index, PyObject *reason)
{
    if (reason == NULL)
        return -1;
    PyObject *error = PyObject_CallFunction(self->fault, "nN", index, reason);
    if (error != NULL) {
        PyErr_SetObject(self->fault, error);
        Py_DECREF(error);
    }
    return -1;
}

static int fault_text(Launcher *self, Py_ssize_t index, const char *reason)
{
    return fault(self, index, PyUnicode_FromString(reason));
}

/* Turn a TypeError, whose text completes "argument NAME ...", into a fault; other errors pass as they are. */
static int fault_from_error(Launcher *self, Py_ssize_t index)
{
    if (!PyErr_ExceptionMatches(PyExc_TypeError))
        return -1;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    PyObject *reason = PyObject_Str(value);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return fault(self, index, reason);
}

static struct range view_range(const Py_buffer *view)
{
    uintptr_t address = (uintptr_t)view->buf;
    struct range range = {address, address};
    if (view->strides == NULL) {
        range.high += (uintptr_t)view->len;
        return range;
    }
    for (int i = 0; i < view->ndim; i++) {
        if (view->shape[i] == 0)
            return (struct range){address, address};
        Py_ssize_t reach = (view->shape[i] - 1) * view->strides[i];
        if (reach > 0)
            range.high += (uintptr_t)reach;
        else
            range.low += (uintptr_t)reach;
    }
    range.high += (uintptr_t)view->itemsize;
    return range;
}

static int check_pointer(Launcher *self, Py_ssize_t index, uintptr_t address, int readonly, Py_ssize_t itemsize)
{
    const struct parameter *parameter = &self->parameters[index];
    if (parameter->written && readonly)
        return fault_text(self, index, "is read-only, but the kernel writes to it");
    if (parameter->itemsize == 0)
        return 0;
    if (itemsize != parameter->itemsize)
        return fault(self, index,
                     PyUnicode_FromFormat("has elements of %zd bytes, but the kernel was compiled for %zd",
                                          itemsize, parameter->itemsize));
    if (address % (uintptr_t)parameter->itemsize != 0)
        return fault(self, index,
                     PyUnicode_FromFormat("is not aligned to its elements of %zd bytes", parameter->itemsize));
    return 0;
}

static int take_extent(Launcher *self, Py_ssize_t index, PyObject *argument, struct call *call)
{
    PyObject *extent = PyObject_CallOneArg(self->extent_of, argument);
    if (extent == NULL)
        return fault_from_error(self, index);
    unsigned long long address, low, high;
    int readonly;
    Py_ssize_t itemsize;
    int parsed = PyArg_ParseTuple(extent, "KKKpn", &address, &low, &high, &readonly, &itemsize);
    Py_DECREF(extent);
    if (!parsed)
        return -1;
    call->slots[index] = address;
    call->ranges[index] = (struct range){(uintptr_t)low, (uintptr_t)high};
    return check_pointer(self, index, (uintptr_t)address, readonly, itemsize);
}

/* A kernel may leave a view within the memory it was taken from: the range is that of the last of its bases. */
static void widen_to_storage(PyObject *argument, struct range *range)
{
    PyObject *owner = PyObject_GetAttrString(argument, "base");
    while (owner != NULL && owner != Py_None) {
        Py_buffer view;
        if (PyObject_GetBuffer(owner, &view, PyBUF_STRIDED_RO) < 0)
            break;
        struct range whole = view_range(&view);
        PyBuffer_Release(&view);
        range->low = whole.low < range->low ? whole.low : range->low;
        range->high = whole.high > range->high ? whole.high : range->high;
        PyObject *next = PyObject_GetAttrString(owner, "base");
        Py_DECREF(owner);
        owner = next;
    }
    Py_XDECREF(owner);
    PyErr_Clear(); /* what has no base, or a base without a buffer, is its own storage */
}

static int take_pointer(Launcher *self, Py_ssize_t index, PyObject *argument, struct call *call)
{
    if (argument == Py_None) {
        call->slots[index] = 0;
        call->ranges[index] = (struct range){0, 0};
        return 0;
    }
    if (PyObject_CheckBuffer(argument)) {
        Py_buffer *view = &call->buffers[call->held];
        if (PyObject_GetBuffer(argument, view, PyBUF_STRIDED_RO) == 0) {
            call->held++;
            if (view->ndim == 0) /* an array of rank 0 or a number: extent_of tells them apart */
                return take_extent(self, index, argument, call);
            call->slots[index] = (uintptr_t)view->buf;
            call->ranges[index] = view_range(view);
            widen_to_storage(argument, &call->ranges[index]);
            return check_pointer(self, index, (uintptr_t)view->buf, view->readonly, view->itemsize);
        }
        PyErr_Clear(); /* some arrays have a buffer slot that refuses their dtype */
    }
    return take_extent(self, index, argument, call);
}

/* numpy's boolean scalar has no __index__; it is known by its type's name. */
static int is_numpy_bool(PyObject *argument)
{
    const char *name = Py_TYPE(argument)->tp_name;
    return strcmp(name, "numpy.bool") == 0 || strcmp(name, "numpy.bool_") == 0;
}

static int out_of_range(Launcher *self, Py_ssize_t index, PyObject *argument)
{
    const struct parameter *parameter = &self->parameters[index];
    if (parameter->kind == BOOLEAN)
        return fault(self, index, PyUnicode_FromFormat("is %S, which is neither True nor False", argument));
    return fault(self, index,
                 PyUnicode_FromFormat("is %S, which does not fit in %s%d", argument,
                                      parameter->is_signed ? "int" : "uint", parameter->bits));
}

static int take_integer(Launcher *self, Py_ssize_t index, PyObject *argument, struct call *call)
{
    const struct parameter *parameter = &self->parameters[index];
    if (is_numpy_bool(argument)) {
        call->slots[index] = (uint64_t)PyObject_IsTrue(argument);
        return 0;
    }
    PyObject *number = PyNumber_Index(argument);
    if (number == NULL) {
        PyErr_Clear();
        return fault(self, index, PyUnicode_FromFormat("is a %s, but the kernel takes %s here", Py_TYPE(argument)->tp_name,
                                                       parameter->kind == BOOLEAN ? "a boolean" : "an integer"));
    }
    int overflow, fits;
    long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
    uint64_t slot = (uint64_t)value;
    if (parameter->kind == BOOLEAN)
        fits = overflow == 0 && (value == 0 || value == 1);
    else if (parameter->is_signed) {
        long long limit = (long long)(((uint64_t)1 << (parameter->bits - 1)) - 1);
        fits = overflow == 0 && value <= limit && value >= -limit - 1;
    } else if (overflow > 0 && parameter->bits == 64) {
        slot = PyLong_AsUnsignedLongLong(number);
        fits = !PyErr_Occurred();
        PyErr_Clear();
    } else
        fits = overflow == 0 && value >= 0 && (parameter->bits >= 63 || value < 1LL << parameter->bits);
    call->slots[index] = slot;
    int status = fits ? 0 : out_of_range(self, index, number);
    Py_DECREF(number);
    return status;
}

static int take_float(Launcher *self, Py_ssize_t index, PyObject *argument, struct call *call)
{
    double value = PyFloat_AsDouble(argument);
    if (value == -1.0 && PyErr_Occurred()) {
        int overflow = PyErr_ExceptionMatches(PyExc_OverflowError);
        PyErr_Clear();
        if (overflow)
            return fault_text(self, index, "is an integer too large for a float");
        return fault(self, index, PyUnicode_FromFormat("is a %s, but the kernel takes a float here",
                                                       Py_TYPE(argument)->tp_name));
    }
    memcpy(&call->slots[index], &value, sizeof value);
    return 0;
}

typedef int (*take_function)(Launcher *, Py_ssize_t, PyObject *, struct call *);
static const take_function TAKE[] = {take_pointer, take_integer, take_float, take_integer};

static int used(const struct parameter *parameter)
{
    return parameter->kind == POINTER && (parameter->written || parameter->read);
}

/* Does a written argument overlap another one that the kernel uses? */
static int any_overlap(const Launcher *self, const struct range *ranges)
{
    for (Py_ssize_t i = 0; i < self->count; i++) {
        if (self->parameters[i].kind != POINTER || !self->parameters[i].written)
            continue;
        for (Py_ssize_t j = 0; j < self->count; j++)
            if (j != i && used(&self->parameters[j]) && ranges[i].low < ranges[j].high &&
                ranges[j].low < ranges[i].high)
                return 1;
    }
    return 0;
}

static int read_grid(Launcher *self, PyObject *grid, int64_t extents[3])
{
    if (!PyTuple_Check(grid) || PyTuple_GET_SIZE(grid) != 3)
        return fault_text(self, GRID, "is not a tuple of three integers");
    for (int i = 0; i < 3; i++) {
        int overflow;
        long long extent = PyLong_AsLongLongAndOverflow(PyTuple_GET_ITEM(grid, i), &overflow);
        if (extent == -1 && PyErr_Occurred()) {
            PyErr_Clear();
            return fault_text(self, GRID, "is not a tuple of three integers");
        }
        if (overflow != 0 || extent < 0 || extent > GRID_LIMIT)
            return fault(self, GRID,
                         PyUnicode_FromFormat("has extent %S in dimension %d; extents go from 0 to %lld",
                                              PyTuple_GET_ITEM(grid, i), i, GRID_LIMIT));
        extents[i] = extent;
    }
    return 0;
}

static int run(Launcher *self, const int64_t grid[3], PyObject *arguments, struct call *call)
{
    for (Py_ssize_t i = 0; i < self->count; i++)
        if (TAKE[self->parameters[i].kind](self, i, PyTuple_GET_ITEM(arguments, i), call) < 0)
            return -1;
    if (!self->aliased_ok && any_overlap(self, call->ranges))
        return ALIASED;
    int status;
    Py_BEGIN_ALLOW_THREADS
    status = self->launch(self->body, call->slots, self->count, grid[0], grid[1], grid[2], self->threads,
                          &self->ns_per_program);
    Py_END_ALLOW_THREADS
    return status == 0 ? OK : fault_text(self, GRID, "has more than 2^63 programs");
}

static int run_with_memory(Launcher *self, const int64_t grid[3], PyObject *arguments)
{
    size_t each = sizeof(uint64_t) + sizeof(struct range) + sizeof(Py_buffer);
    uint64_t local[LOCAL_ARGUMENTS * (sizeof(uint64_t) + sizeof(struct range) + sizeof(Py_buffer)) / 8];
    void *memory = self->count <= LOCAL_ARGUMENTS ? local : PyMem_Malloc((size_t)self->count * each);
    if (memory == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    struct call call = {.buffers = memory};
    call.ranges = (struct range *)(call.buffers + self->count);
    call.slots = (uint64_t *)(call.ranges + self->count);
    int status = run(self, grid, arguments, &call);
    for (int i = 0; i < call.held; i++)
        PyBuffer_Release(&call.buffers[i]);
    if (memory != local)
        PyMem_Free(memory);
    return status;
}

static PyObject *Launcher_call(PyObject *object, PyObject *const *arguments, size_t flags, PyObject *names)
{
    Launcher *self = (Launcher *)object;
    int64_t grid[3];
    if (PyVectorcall_NARGS(flags) != 2 || (names != NULL && PyTuple_GET_SIZE(names) != 0) ||
        !PyTuple_Check(arguments[1])) {
        PyErr_SetString(PyExc_TypeError, "a launcher takes (grid, arguments), both tuples");
        return NULL;
    }
    if (read_grid(self, arguments[0], grid) < 0)
        return NULL;
    Py_ssize_t given = PyTuple_GET_SIZE(arguments[1]);
    if (given != self->count) {
        fault(self, given < self->count ? given : self->count,
              PyUnicode_FromFormat("is %s: the kernel takes %zd arguments, not %zd",
                                   given < self->count ? "missing" : "one too many", self->count, given));
        return NULL;
    }
    int status = run_with_memory(self, grid, arguments[1]);
    return status < 0 ? NULL : PyLong_FromLong(status);
}

static int read_parameter(PyObject *tuple, struct parameter *parameter)
{
    static const char *const NAMES[] = {"pointer", "int", "float", "bool"};
    const char *kind;
    int written, read, is_signed;
    if (!PyTuple_Check(tuple) || !PyArg_ParseTuple(tuple, "sppnip", &kind, &written, &read, &parameter->itemsize,
                                                   &parameter->bits, &is_signed))
        return -1;
    parameter->written = (char)written;
    parameter->read = (char)read;
    parameter->is_signed = (char)is_signed;
    for (int i = 0; i < 4; i++)
        if (strcmp(kind, NAMES[i]) == 0) {
            parameter->kind = (enum kind)i;
            return 0;
        }
    PyErr_Format(PyExc_ValueError, "unknown kind of parameter '%s'", kind);
    return -1;
}

static PyObject *Launcher_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    unsigned long long body, launch;
    PyObject *parameters, *extent_of, *fault_class;
    int aliased_ok;
    if (keywords != NULL && PyDict_GET_SIZE(keywords) != 0) {
        PyErr_SetString(PyExc_TypeError, "Launcher takes positional arguments only");
        return NULL;
    }
    if (!PyArg_ParseTuple(arguments, "KKO!OOp", &body, &launch, &PyTuple_Type, &parameters, &extent_of, &fault_class,
                          &aliased_ok))
        return NULL;
    Launcher *self = (Launcher *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->call = Launcher_call;
    self->body = (uintptr_t)body;
    self->launch = (launch_function)(uintptr_t)launch;
    self->aliased_ok = (char)aliased_ok;
    self->extent_of = Py_NewRef(extent_of);
    self->fault = Py_NewRef(fault_class);
    self->count = PyTuple_GET_SIZE(parameters);
    self->parameters = PyMem_Calloc((size_t)self->count + 1, sizeof *self->parameters);
    if (self->parameters == NULL) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < self->count; i++)
        if (read_parameter(PyTuple_GET_ITEM(parameters, i), &self->parameters[i]) < 0) {
            Py_DECREF(self);
            return NULL;
        }
    return (PyObject *)self;
}

static int Launcher_traverse(PyObject *object, visitproc visit, void *arg)
{
    Launcher *self = (Launcher *)object;
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->extent_of);
    Py_VISIT(self->fault);
    return 0;
}

static int Launcher_clear(PyObject *object)
{
    Launcher *self = (Launcher *)object;
    Py_CLEAR(self->extent_of);
    Py_CLEAR(self->fault);
    return 0;
}

static void Launcher_dealloc(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    Launcher_clear(object);
    PyMem_Free(((Launcher *)object)->parameters);
    type->tp_free(object);
    Py_DECREF(type);
}

static PyMemberDef Launcher_members[] = {
    {"threads", T_INT, offsetof(Launcher, threads), 0, "number of threads; 0: the pool's default"},
    {"ns_per_program", T_DOUBLE, offsetof(Launcher, ns_per_program), 0, "running estimate; 0: none yet"},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Launcher, call), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot Launcher_slots[] = {
    {Py_tp_doc, "Launcher(body, launch, parameters, extent_of, fault, aliased_ok): runs one compiled kernel."},
    {Py_tp_new, Launcher_new},
    {Py_tp_dealloc, Launcher_dealloc},
    {Py_tp_traverse, Launcher_traverse},
    {Py_tp_clear, Launcher_clear},
    {Py_tp_call, PyVectorcall_Call},
    {Py_tp_members, Launcher_members},
    {0, NULL},
};

static PyType_Spec Launcher_spec = {
    .name = "_cpu_c_launcher.Launcher",
    .basicsize = sizeof(Launcher),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .slots = Launcher_slots,
};

/* Load a shared object for the rest of the process: it may run on pool threads, so it is never unloaded. */
static PyObject *load_symbol(PyObject *module, PyObject *arguments)
{
    PyObject *path;
    const char *symbol;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O&s", PyUnicode_FSConverter, &path, &symbol))
        return NULL;
    void *library = dlopen(PyBytes_AS_STRING(path), RTLD_NOW | RTLD_LOCAL);
    Py_DECREF(path);
    void *address = library == NULL ? NULL : dlsym(library, symbol);
    if (address == NULL) {
        PyErr_SetString(PyExc_OSError, dlerror());
        return NULL;
    }
    return PyLong_FromVoidPtr(address);
}

static PyMethodDef module_methods[] = {
    {"load_symbol", load_symbol, METH_VARARGS, "load_symbol(path, symbol) -> address of a symbol in a shared object"},
    {NULL, NULL, 0, NULL},
};

static int module_exec(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &Launcher_spec, NULL);
    int status = type == NULL ? -1 : PyModule_AddType(module, (PyTypeObject *)type);
    Py_XDECREF(type);
    return status;
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
#ifdef Py_mod_multiple_interpreters
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#endif
#ifdef Py_mod_gil
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static struct PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_cpu_c_launcher",
    .m_doc = "Launcher of compiled kernels.",
    .m_methods = module_methods,
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__cpu_c_launcher(void)
{
    return PyModuleDef_Init(&module_definition);
}
