/* memcmp and bcmp for the musl of zig, whose own ones compare byte by byte. */
#include <stddef.h>
#include <stdint.h>

#define LOAD(type, name, swap)                                       \
    static inline uint64_t name(const unsigned char *from) {         \
        type value;                                                  \
        __builtin_memcpy(&value, from, sizeof value);                \
        return swap(value);                                          \
    }
/* As numbers whose order is that of the bytes: all targets are little-endian. */
LOAD(uint64_t, load8, __builtin_bswap64)
LOAD(uint32_t, load4, __builtin_bswap32)

static inline int order(uint64_t left, uint64_t right) {
    return (left > right) - (left < right);
}

int memcmp(const void *left_start, const void *right_start, size_t length) {
    const unsigned char *left = left_start, *right = right_start;
    if (length >= 8) {
        /* The last eight bytes may overlap those before them, which are equal. */
        const size_t last = length - 8;
        for (size_t at = 0; at < last; at += 8) {
            const uint64_t a = load8(left + at), b = load8(right + at);
            if (a != b)
                return order(a, b);
        }
        return order(load8(left + last), load8(right + last));
    }
    if (length >= 4) {
        const uint64_t a = load4(left), b = load4(right);
        if (a != b)
            return order(a, b);
        return order(load4(left + length - 4), load4(right + length - 4));
    }
    for (size_t at = 0; at < length; at++)
        if (left[at] != right[at])
            return left[at] - right[at];
    return 0;
}

int bcmp(const void *left, const void *right, size_t length) {
    return memcmp(left, right, length);
}
