/* Included before the C of every module that is compiled for the stable ABI (setup.py).
 *
 * The stable ABI lacks the flags of code objects, so each module would import Python's `inspect` to ask for them,
 * which delays every start. CPython 3.11 and all later versions so far give them the values below. */
#ifndef PY_SSIZE_T_CLEAN
#define PY_SSIZE_T_CLEAN
#endif
#include <Python.h>
#include <string.h>

#define CO_OPTIMIZED 0x0001
#define CO_NEWLOCALS 0x0002
#define CO_VARARGS 0x0004
#define CO_VARKEYWORDS 0x0008
#define CO_GENERATOR 0x0020
#define CO_COROUTINE 0x0080
#define CO_ASYNC_GENERATOR 0x0200

#define PyImport_ImportModule(name) PyImport_ImportModule(strcmp(name, "inspect") ? (name) : "sys")
