# Words and flags that threads share without a lock: relaxed atomic accesses cost what plain ones do, and are defined.
# Each takes the variable itself, not its address.

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define moff_load(variable) __atomic_load_n(&(variable), __ATOMIC_RELAXED)
    #define moff_store(variable, value) __atomic_store_n(&(variable), value, __ATOMIC_RELAXED)
    #else
    #define moff_load(variable) (variable)
    #define moff_store(variable, value) ((variable) = (value))
    #endif
    """
    bint load_flag "moff_load"(bint flag) noexcept nogil
    void store_flag "moff_store"(bint flag, bint value) noexcept nogil
    unsigned long long load_word "moff_load"(unsigned long long word) noexcept nogil
    void store_word "moff_store"(unsigned long long word, unsigned long long value) noexcept nogil
