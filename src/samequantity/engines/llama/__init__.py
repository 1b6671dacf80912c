"""llama.cpp in this process, through the plain C interface of llama-cpp-python."""
