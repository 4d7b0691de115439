cdef extern from *:
    """
    #if defined(_WIN32)
    #ifndef WIN32_LEAN_AND_MEAN
    #define WIN32_LEAN_AND_MEAN
    #endif
    #ifndef NOMINMAX
    #define NOMINMAX
    #endif
    #include <windows.h>
    static long long monotonic_ns(void) {
        LARGE_INTEGER frequency, ticks;
        QueryPerformanceFrequency(&frequency);
        QueryPerformanceCounter(&ticks);
        return ticks.QuadPart / frequency.QuadPart * 1000000000LL
             + ticks.QuadPart % frequency.QuadPart * 1000000000LL / frequency.QuadPart;
    }
    static void yield_processor(void) { SwitchToThread(); }
    #else
    #include <sched.h>
    #include <time.h>
    static long long monotonic_ns(void) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return now.tv_sec * 1000000000LL + now.tv_nsec;
    }
    static void yield_processor(void) { sched_yield(); }
    #endif

    #if defined(_MSC_VER) && defined(_M_X64)
    #include <immintrin.h>
    #include <intrin.h>
    static int has_avx2(void) {
        int words[4];
        __cpuid(words, 0);
        if (words[0] < 7) return 0;
        __cpuid(words, 1);
        if (!(words[2] & 1 << 27) || (_xgetbv(0) & 6) != 6) return 0;  /* the system keeps the registers */
        __cpuidex(words, 7, 0);
        return words[1] >> 5 & 1;
    }
    #elif defined(__GNUC__) && defined(__x86_64__)
    static int has_avx2(void) { return __builtin_cpu_supports("avx2") != 0; }
    #else
    static int has_avx2(void) { return 0; }
    #endif
    """
    bint has_avx2() noexcept nogil
    long long monotonic_ns() noexcept nogil
    void yield_processor() noexcept nogil
