/*
 * Times of M4RI, in a process of its own: M4RI is under the GPL, and nothing else here is linked to it.
 *
 *     m4ri-time SIZE
 *
 * Fills square matrices with random bits, then reads lines "TASK REPEATS" and answers each with the nanoseconds of
 * processor time that the repeats took. Preparing the input of a repeat does not count. An unknown task is answered with
 * -1.
 */
#include <m4ri/m4ri.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static mzd_t *a, *b, *vector, *room, *invertible;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static double rank(int by_table) {
    mzd_copy(room, a);
    double begin = now();
    if (by_table) {
        mzd_echelonize_m4ri(room, 0, 0);
    } else {
        mzd_echelonize_pluq(room, 0);
    }
    return now() - begin;
}

static double product(mzd_t *right) {
    double begin = now();
    mzd_t *result = mzd_mul(NULL, a, right, 0);
    double end = now();
    mzd_free(result);
    return end - begin;
}

static double transpose(void) {
    double begin = now();
    mzd_t *result = mzd_transpose(NULL, a);
    double end = now();
    mzd_free(result);
    return end - begin;
}

static double inverse(void) {
    double begin = now();
    mzd_t *result = mzd_inv_m4ri(NULL, invertible, 0);
    double end = now();
    mzd_free(result);
    return end - begin;
}

static double run(const char *task) {
    if (strcmp(task, "rank-m4ri") == 0) return rank(1);
    if (strcmp(task, "rank-pluq") == 0) return rank(0);
    if (strcmp(task, "product") == 0) return product(b);
    if (strcmp(task, "vector") == 0) return product(vector);
    if (strcmp(task, "transpose") == 0) return transpose();
    if (strcmp(task, "inverse") == 0) return inverse();
    return -1;
}

int main(int count, char **arguments) {
    int size = count == 2 ? atoi(arguments[1]) : 0;
    if (size <= 0) {
        fprintf(stderr, "usage: m4ri-time SIZE\n");
        return 2;
    }
    a = mzd_init(size, size);
    b = mzd_init(size, size);
    vector = mzd_init(size, 1);
    room = mzd_init(size, size);
    invertible = mzd_init(size, size);
    mzd_randomize(a);
    mzd_randomize(b);
    mzd_randomize(vector);
    do {
        mzd_randomize(invertible);
        mzd_copy(room, invertible);
    } while (mzd_echelonize_m4ri(room, 0, 0) < size);

    char task[32];
    int repeats;
    while (scanf("%31s %d", task, &repeats) == 2) {
        double total = 0;
        for (int i = 0; i < repeats; i++) {
            double time = run(task);
            if (time < 0) {
                total = -1;
                break;
            }
            total += time;
        }
        printf("%.0f\n", total);
        fflush(stdout);
    }
    return 0;
}
