cdef extern from *:
    """
    #if defined(_WIN32)
    #include <windows.h>
    static long long monotonic_ns(void) {
        LARGE_INTEGER frequency, ticks;
        QueryPerformanceFrequency(&frequency);
        QueryPerformanceCounter(&ticks);
        return ticks.QuadPart / frequency.QuadPart * 1000000000LL
             + ticks.QuadPart % frequency.QuadPart * 1000000000LL / frequency.QuadPart;
    }
    static void give_way(void) { SwitchToThread(); }
    #else
    #include <sched.h>
    #include <time.h>
    static long long monotonic_ns(void) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        return now.tv_sec * 1000000000LL + now.tv_nsec;
    }
    static void give_way(void) { sched_yield(); }
    #endif
    """
    long long monotonic_ns() noexcept nogil
    void give_way() noexcept nogil
