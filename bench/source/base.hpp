// What every unit of the benchmark program shares: dsymutil unites these types, as it does with a real SDK's.
#pragma once

using usize = decltype(sizeof(0));

extern "C" void *malloc(usize size);
extern "C" void free(void *ptr);
extern "C" void *memmove(void *to, const void *from, usize size);
extern "C" [[noreturn]] void abort();

inline void *operator new(usize, void *where) noexcept
{
    return where;
}
void *operator new(usize size);
void operator delete(void *ptr) noexcept;
void operator delete(void *ptr, usize) noexcept;

namespace base
{

template <class T> struct bare {
    using type = T;
};
template <class T> struct bare<T &> {
    using type = T;
};
template <class T> struct bare<T &&> {
    using type = T;
};
template <class T> struct constless {
    using type = T;
};
template <class T> struct constless<const T> {
    using type = T;
};
template <class T> using bare_t = typename constless<typename bare<T>::type>::type;

template <class T> constexpr typename bare<T>::type &&move(T &&value)
{
    return static_cast<typename bare<T>::type &&>(value);
}
template <class T> constexpr T &&forward(typename bare<T>::type &value)
{
    return static_cast<T &&>(value);
}
template <class T> void swap(T &a, T &b)
{
    T keep = move(a);
    a = move(b);
    b = move(keep);
}

[[noreturn]] inline void fail()
{
    abort();
}

inline unsigned long mix(unsigned long h, unsigned long value)
{
    h ^= value + 0x9e3779b97f4a7c15ul + (h << 6) + (h >> 2);
    return h * 0xff51afd7ed558ccdul;
}

struct bytes {
    const char *ptr = nullptr;
    usize len = 0;

    unsigned long hash() const
    {
        unsigned long h = len;
        for (usize i = 0; i < len; i++)
            h = mix(h, (unsigned char)ptr[i]);
        return h;
    }
    int compare(const bytes &other) const
    {
        usize shorter = len < other.len ? len : other.len;
        for (usize i = 0; i < shorter; i++)
            if (ptr[i] != other.ptr[i])
                return (unsigned char)ptr[i] < (unsigned char)other.ptr[i] ? -1 : 1;
        return len == other.len ? 0 : len < other.len ? -1 : 1;
    }
};

} // namespace base
