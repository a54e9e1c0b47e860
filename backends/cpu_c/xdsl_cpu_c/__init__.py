"""The backend `cpu_c`: tile IR to C, a C compiler, a launcher and a thread pool."""
