/* Runtime library of compiled kernels: a thread pool that spreads the programs of a grid over the cores.
 *
 * A kernel exports `body(slots, first_program, last_program)`. Slots are 8 bytes each: slot 0 points to the three
 * grid extents, slot 1 to `xdsl_scratch`, slots 2.. hold the kernel's parameters.
 *
 * Idle workers spin for a few microseconds and then sleep: a pool that spins on takes the cores away from
 * whatever the caller does next.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#endif

typedef void (*body_function)(const uint64_t *slots, int64_t first_program, int64_t last_program);

enum {
    SPIN_PAUSES = 2000,
    MAX_THREADS = 1024,
    CHUNKS_PER_THREAD = 8,
    LOCAL_SLOTS = 64,
    SCRATCH_ALIGNMENT = 64,
    CACHE_LINE = 64,
};
static const double SERIAL_BELOW_NS = 20000.0;
static const size_t WORKER_STACK_BYTES = (size_t)8 << 20;

/* The gate counts who may and who does work on the current job, so that a worker that wakes late finds it closed
 * and nobody waits for it: bit 31 open, bits 16-30 free seats, bits 0-15 workers inside. */
#define GATE_OPEN 0x80000000u
#define GATE_SEAT 0x00010000u
#define GATE_SEATS 0x7fff0000u
#define GATE_INSIDE 0x0000ffffu

static struct {
    pthread_mutex_t launching; /* held by the thread whose job the pool runs */
    int workers;               /* started so far; guarded by `launching` */
    int threads;               /* default number of threads of a launch; 0: one per usable core */
    /* The job: written while the gate is closed and nobody is inside. */
    body_function body;
    const uint64_t *slots;
    int64_t programs, chunk;
    _Alignas(CACHE_LINE) int64_t next;       /* first program nobody has taken */
    int64_t busy_ns;                         /* time that all threads together spent in programs */
    _Alignas(CACHE_LINE) uint32_t generation; /* counts jobs; idle workers wait for it to change */
    _Alignas(CACHE_LINE) uint32_t gate;
    uint32_t sleepers; /* workers asleep on `generation` */
#ifndef __linux__
    pthread_mutex_t sleeping;
    pthread_cond_t changed;
#endif
} pool = {
    .launching = PTHREAD_MUTEX_INITIALIZER,
#ifndef __linux__
    .sleeping = PTHREAD_MUTEX_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
#endif
};

static pthread_once_t pool_once = PTHREAD_ONCE_INIT;
static pthread_key_t scratch_key;

static inline void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

#ifdef __linux__
static void sleep_while_equal(uint32_t *word, uint32_t value)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void wake(uint32_t *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}
#else
static void sleep_while_equal(uint32_t *word, uint32_t value)
{
    pthread_mutex_lock(&pool.sleeping);
    while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == value)
        pthread_cond_wait(&pool.changed, &pool.sleeping);
    pthread_mutex_unlock(&pool.sleeping);
}

static void wake(uint32_t *word, int count)
{
    (void)word, (void)count; /* one condition for all words: wake everybody, they look again */
    pthread_mutex_lock(&pool.sleeping);
    pthread_cond_broadcast(&pool.changed);
    pthread_mutex_unlock(&pool.sleeping);
}
#endif

struct scratch {
    void *block;
    size_t bytes;
};

static void free_scratch(void *pointer)
{
    struct scratch *scratch = pointer;
    free(scratch->block);
    free(scratch);
}

static _Noreturn void out_of_memory(size_t bytes)
{
    fprintf(stderr, "kernel runtime: out of memory (scratch block of %zu bytes)\n", bytes);
    abort();
}

static void set_up_once(void);

/* The calling thread's scratch block of at least `bytes`, 64-byte aligned; the next call may return the same block. */
void *xdsl_scratch(size_t bytes)
{
    static __thread struct scratch *mine;
    if (__builtin_expect(mine != NULL && mine->bytes >= bytes, 1))
        return mine->block;
    pthread_once(&pool_once, set_up_once);
    if (mine == NULL) {
        mine = calloc(1, sizeof *mine);
        if (mine == NULL)
            out_of_memory(sizeof *mine);
        pthread_setspecific(scratch_key, mine);
    }
    free(mine->block);
    size_t rounded = (bytes + 4095) & ~(size_t)4095;
    if (rounded < bytes || posix_memalign(&mine->block, SCRATCH_ALIGNMENT, rounded ? rounded : 4096) != 0)
        out_of_memory(bytes);
    mine->bytes = rounded ? rounded : 4096;
    return mine->block;
}

static int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Run chunks of the current job until none is left, and add the time they took to the job's. */
static void run_chunks(void)
{
    const int64_t programs = pool.programs, chunk = pool.chunk, start = now_ns();
    int64_t first, done = 0;
    while ((first = __atomic_fetch_add(&pool.next, chunk, __ATOMIC_RELAXED)) < programs) {
        int64_t last = programs - first < chunk ? programs : first + chunk;
        pool.body(pool.slots, first, last);
        done += last - first;
    }
    if (done > 0)
        __atomic_add_fetch(&pool.busy_ns, now_ns() - start, __ATOMIC_RELAXED);
}

static int enter_job(void)
{
    uint32_t gate = __atomic_load_n(&pool.gate, __ATOMIC_ACQUIRE);
    while ((gate & GATE_OPEN) && (gate & GATE_SEATS))
        if (__atomic_compare_exchange_n(&pool.gate, &gate, gate - GATE_SEAT + 1, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            return 1;
    return 0;
}

static void leave_job(void)
{
    uint32_t left = __atomic_sub_fetch(&pool.gate, 1, __ATOMIC_ACQ_REL);
    if (!(left & GATE_OPEN) && !(left & GATE_INSIDE))
        wake(&pool.gate, 1);
}

static uint32_t await_job(uint32_t seen)
{
    uint32_t now;
    for (int i = 0; i < SPIN_PAUSES; i++) {
        now = __atomic_load_n(&pool.generation, __ATOMIC_ACQUIRE);
        if (now != seen)
            return now;
        pause_briefly();
    }
    __atomic_add_fetch(&pool.sleepers, 1, __ATOMIC_SEQ_CST);
    while ((now = __atomic_load_n(&pool.generation, __ATOMIC_SEQ_CST)) == seen)
        sleep_while_equal(&pool.generation, seen);
    __atomic_sub_fetch(&pool.sleepers, 1, __ATOMIC_SEQ_CST);
    return now;
}

static void *work(void *argument)
{
    uint32_t seen = (uint32_t)(uintptr_t)argument;
    for (;;) {
        seen = await_job(seen);
        if (enter_job()) {
            run_chunks();
            leave_job();
        }
    }
    return NULL;
}

/* Bring the number of workers up to `wanted` as far as the system allows; returns how many there are. */
static int start_workers(int wanted)
{
    if (pool.workers >= wanted)
        return wanted;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals stay with the program's own threads */
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, WORKER_STACK_BYTES);
    while (pool.workers < wanted) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, work, (void *)(uintptr_t)pool.generation) != 0)
            break;
        pool.workers++;
    }
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return pool.workers < wanted ? pool.workers : wanted;
}

/* A forked child has one thread: no workers, no job, no lock held by a thread that no longer exists. */
static void reset_in_child(void)
{
    pthread_mutex_init(&pool.launching, NULL);
#ifndef __linux__
    pthread_mutex_init(&pool.sleeping, NULL);
    pthread_cond_init(&pool.changed, NULL);
#endif
    pool.workers = 0;
    pool.gate = 0;
    pool.sleepers = 0;
}

static void set_up_once(void)
{
    pthread_key_create(&scratch_key, free_scratch);
    pthread_atfork(NULL, NULL, reset_in_child);
}

static int usable_cores(void)
{
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
#endif
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores > 0 ? (int)cores : 1;
}

/* Threads that a launch uses unless it says otherwise. */
int xdsl_threads(void)
{
    int threads = __atomic_load_n(&pool.threads, __ATOMIC_RELAXED);
    if (threads > 0)
        return threads;
    threads = usable_cores();
    threads = threads > MAX_THREADS ? MAX_THREADS : threads;
    __atomic_store_n(&pool.threads, threads, __ATOMIC_RELAXED);
    return threads;
}

/* Set the default number of threads; 0 or less means one per usable core. */
void xdsl_set_threads(int threads)
{
    threads = threads < 0 ? 0 : threads > MAX_THREADS ? MAX_THREADS : threads;
    __atomic_store_n(&pool.threads, threads, __ATOMIC_RELAXED);
}

/* Keep the running estimate of a program's time: falls at once, because a first run is cold, and rises slowly. */
static void note_time(double *ns_per_program, int64_t elapsed, int64_t programs)
{
    if (ns_per_program == NULL || programs <= 0)
        return;
    double known, seen = (double)(elapsed > 0 ? elapsed : 1) / (double)programs;
    __atomic_load(ns_per_program, &known, __ATOMIC_RELAXED);
    if (known > 0 && seen > known)
        seen = known + (seen - known) / 4;
    __atomic_store(ns_per_program, &seen, __ATOMIC_RELAXED);
}

static void run_serial(body_function body, const uint64_t *slots, int64_t programs, double *ns_per_program)
{
    int64_t start = now_ns();
    body(slots, 0, programs);
    note_time(ns_per_program, now_ns() - start, programs);
}

static void run_parallel(body_function body, const uint64_t *slots, int64_t programs, int threads,
                         double *ns_per_program)
{
    pool.body = body;
    pool.slots = slots;
    pool.programs = programs;
    pool.chunk = programs <= threads ? 1 : programs / ((int64_t)threads * CHUNKS_PER_THREAD);
    pool.chunk = pool.chunk < 1 ? 1 : pool.chunk;
    pool.busy_ns = 0;
    __atomic_store_n(&pool.next, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&pool.gate, GATE_OPEN | (uint32_t)(threads - 1) * GATE_SEAT, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&pool.generation, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&pool.sleepers, __ATOMIC_SEQ_CST) > 0)
        wake(&pool.generation, threads - 1);

    run_chunks();

    uint32_t gate = __atomic_and_fetch(&pool.gate, GATE_INSIDE, __ATOMIC_ACQ_REL);
    for (int i = 0; gate != 0 && i < SPIN_PAUSES; i++) {
        pause_briefly();
        gate = __atomic_load_n(&pool.gate, __ATOMIC_ACQUIRE);
    }
    while (gate != 0) {
        sleep_while_equal(&pool.gate, gate);
        gate = __atomic_load_n(&pool.gate, __ATOMIC_ACQUIRE);
    }
    /* Of all threads, not of this one: a worker may have taken every program. */
    note_time(ns_per_program, pool.busy_ns, programs);
}

/* Is this launch too small to be worth a second thread? */
static int runs_serially(int64_t programs, int threads, const double *ns_per_program)
{
    if (programs == 1 || threads <= 1)
        return 1;
    double known = 0;
    if (ns_per_program != NULL)
        __atomic_load((double *)ns_per_program, &known, __ATOMIC_RELAXED);
    return known > 0 && known * (double)programs < SERIAL_BELOW_NS;
}

/* Run programs 0 .. programs-1 on `threads` threads (0: the default) and return when all are done.
 *
 * `ns_per_program` (may be NULL) is the caller's running estimate for this kernel, 0 before its first run. A launch
 * while the pool is busy runs on the calling thread alone. */
void xdsl_run(body_function body, const uint64_t *slots, int64_t programs, int threads, double *ns_per_program)
{
    if (programs <= 0)
        return;
    pthread_once(&pool_once, set_up_once);
    threads = threads > 0 ? threads : xdsl_threads();
    threads = threads > MAX_THREADS ? MAX_THREADS : threads;
    threads = programs < threads ? (int)programs : threads;
    if (runs_serially(programs, threads, ns_per_program) || pthread_mutex_trylock(&pool.launching) != 0) {
        run_serial(body, slots, programs, ns_per_program);
        return;
    }
    int helpers = start_workers(threads - 1);
    if (helpers > 0)
        run_parallel(body, slots, programs, helpers + 1, ns_per_program);
    else
        run_serial(body, slots, programs, ns_per_program);
    pthread_mutex_unlock(&pool.launching);
}

/* Run a kernel over a grid: `parameters` are its slots 2.. in order, the extents are not negative.
 *
 * Returns 0, or -1 (and runs nothing) if the number of programs does not fit in 63 bits or memory is short. */
int xdsl_launch(body_function body, const uint64_t *parameters, int64_t count, int64_t grid_x, int64_t grid_y,
                int64_t grid_z, int threads, double *ns_per_program)
{
    const int64_t grid[3] = {grid_x, grid_y, grid_z};
    int64_t programs;
    if (grid_x == 0 || grid_y == 0 || grid_z == 0)
        return 0;
    if (__builtin_mul_overflow(grid_x, grid_y, &programs) || __builtin_mul_overflow(programs, grid_z, &programs))
        return -1;
    uint64_t local[LOCAL_SLOTS];
    uint64_t *slots = count + 2 <= LOCAL_SLOTS ? local : malloc((size_t)(count + 2) * sizeof *slots);
    if (slots == NULL)
        return -1;
    slots[0] = (uint64_t)(uintptr_t)grid;
    slots[1] = (uint64_t)(uintptr_t)xdsl_scratch;
    if (count > 0)
        memcpy(slots + 2, parameters, (size_t)count * sizeof *slots);
    xdsl_run(body, slots, programs, threads, ns_per_program);
    if (slots != local)
        free(slots);
    return 0;
}
