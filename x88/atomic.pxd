# Words that threads share without a lock.

cdef extern from *:
    """
    /* A plain read or write of one of these variables is atomic, and others see it in the order of the program. */
    #if defined(_MSC_VER)
    #include <intrin.h>
    typedef volatile long atomic_flag_word;
    typedef volatile long long atomic_count;
    static __inline long long take_from(atomic_count* left, long long wanted) {
        return _InterlockedExchangeAdd64(left, -wanted);
    }
    #else
    #include <stdatomic.h>
    typedef _Atomic int atomic_flag_word;
    typedef _Atomic long long atomic_count;
    static inline long long take_from(atomic_count* left, long long wanted) {
        return atomic_fetch_sub_explicit(left, wanted, memory_order_relaxed);
    }
    #endif
    static inline long long moff_plain(long long number) { return number; }

    /* The words of a table need no order, and relaxed accesses cost what plain ones do. Each takes the word itself. */
    #if defined(__GNUC__)
    #define moff_load(word) __atomic_load_n(&(word), __ATOMIC_RELAXED)
    #define moff_store(word, value) __atomic_store_n(&(word), value, __ATOMIC_RELAXED)
    #define moff_load_short moff_load
    #define moff_store_short moff_store
    #else  /* volatile, so that a word is read and written once */
    #define moff_load(word) (*(const volatile unsigned long long*)&(word))
    #define moff_store(word, value) (*(volatile unsigned long long*)&(word) = (value))
    #define moff_load_short(word) (*(const volatile short*)&(word))
    #define moff_store_short(word, value) (*(volatile short*)&(word) = (short)(value))
    #endif
    """
    ctypedef int atomic_flag_word
    ctypedef long long atomic_count
    long long take_from(atomic_count* left, long long wanted) noexcept nogil
    long long plain "moff_plain"(long long number) noexcept nogil
    unsigned long long load_word "moff_load"(unsigned long long word) noexcept nogil
    void store_word "moff_store"(unsigned long long word, unsigned long long value) noexcept nogil
    short load_short "moff_load_short"(short word) noexcept nogil
    void store_short "moff_store_short"(short word, short value) noexcept nogil
