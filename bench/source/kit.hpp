// Containers whose namespace is named by the unit: each unit gets its own instances.
#pragma once
#include "base.hpp"

namespace KIT
{

using base::forward;
using base::move;

template <class T> class array
{
    T *v = nullptr;
    usize used = 0, room = 0;

  public:
    array() = default;
    array(array &&other) : v(other.v), used(other.used), room(other.room)
    {
        other.v = nullptr;
        other.used = other.room = 0;
    }
    array(const array &other)
    {
        reserve(other.used);
        for (const T &one : other)
            push(one);
    }
    array &operator=(array other)
    {
        swap(other);
        return *this;
    }
    ~array()
    {
        clear();
        free(v);
    }
    void swap(array &other)
    {
        base::swap(v, other.v);
        base::swap(used, other.used);
        base::swap(room, other.room);
    }
    T *begin()
    {
        return v;
    }
    T *end()
    {
        return v + used;
    }
    const T *begin() const
    {
        return v;
    }
    const T *end() const
    {
        return v + used;
    }
    usize size() const
    {
        return used;
    }
    bool empty() const
    {
        return used == 0;
    }
    T &operator[](usize i)
    {
        check(i);
        return v[i];
    }
    const T &operator[](usize i) const
    {
        check(i);
        return v[i];
    }
    void reserve(usize count)
    {
        if (count <= room)
            return;
        T *moved = static_cast<T *>(malloc(count * sizeof(T)));
        for (usize i = 0; i < used; i++) {
            new (moved + i) T(move(v[i]));
            v[i].~T();
        }
        free(v);
        v = moved;
        room = count;
    }
    template <class... A> T &emplace(A &&...args)
    {
        if (used == room)
            reserve(room ? room * 2 : 4);
        return *new (v + used++) T(forward<A>(args)...);
    }
    void push(const T &one)
    {
        emplace(one);
    }
    void push(T &&one)
    {
        emplace(move(one));
    }
    void pop()
    {
        check(0);
        v[--used].~T();
    }
    void clear()
    {
        while (used)
            pop();
    }
    void insert(usize at, T one)
    {
        emplace(move(one));
        for (usize i = used - 1; i > at; i--)
            base::swap(v[i], v[i - 1]);
    }
    void erase(usize at)
    {
        check(at);
        for (usize i = at; i + 1 < used; i++)
            v[i] = move(v[i + 1]);
        pop();
    }
    template <class F> void each(F &&f) const
    {
        for (const T &one : *this)
            f(one);
    }
    template <class F> array where(F &&keep) const
    {
        array out;
        each([&](const T &one) {
            if (keep(one))
                out.push(one);
        });
        return out;
    }
    template <class F> auto map(F &&f) const
    {
        array<base::bare_t<decltype(f(v[0]))>> out;
        out.reserve(used);
        each([&](const T &one) { out.push(f(one)); });
        return out;
    }
    template <class A, class F> A fold(A sum, F &&f) const
    {
        each([&](const T &one) { sum = f(move(sum), one); });
        return sum;
    }
    template <class F> void sort(F &&less)
    {
        sort_range(0, used, less);
    }
    template <class F> usize lower_bound(F &&below) const
    {
        usize lo = 0, hi = used;
        while (lo < hi) {
            usize mid = lo + (hi - lo) / 2;
            if (below(v[mid]))
                lo = mid + 1;
            else
                hi = mid;
        }
        return lo;
    }

  private:
    void check(usize i) const
    {
        if (i >= used)
            base::fail();
    }
    template <class F> void sort_range(usize lo, usize hi, F &less)
    {
        while (hi - lo > 12) {
            usize mid = split(lo, hi, less);
            sort_range(lo, mid, less);
            lo = mid + 1;
        }
        insertion(lo, hi, less);
    }
    template <class F> usize split(usize lo, usize hi, F &less)
    {
        base::swap(v[lo + (hi - lo) / 2], v[hi - 1]);
        usize at = lo;
        for (usize i = lo; i + 1 < hi; i++)
            if (less(v[i], v[hi - 1]))
                base::swap(v[i], v[at++]);
        base::swap(v[at], v[hi - 1]);
        return at;
    }
    template <class F> void insertion(usize lo, usize hi, F &less)
    {
        for (usize i = lo + 1; i < hi; i++)
            for (usize j = i; j > lo && less(v[j], v[j - 1]); j--)
                base::swap(v[j], v[j - 1]);
    }
};

class text
{
    array<char> v;

  public:
    text() = default;
    text(const char *from)
    {
        while (*from)
            v.push(*from++);
    }
    base::bytes view() const
    {
        return base::bytes{v.begin(), v.size()};
    }
    usize size() const
    {
        return v.size();
    }
    text &add(char one)
    {
        v.push(one);
        return *this;
    }
    text &add(const text &other)
    {
        other.v.each([&](char one) { v.push(one); });
        return *this;
    }
    text &add_number(long value)
    {
        if (value < 0)
            return add('-').add_number(-value);
        if (value >= 10)
            add_number(value / 10);
        return add(char('0' + value % 10));
    }
    friend bool operator==(const text &a, const text &b)
    {
        return a.view().compare(b.view()) == 0;
    }
    friend bool operator<(const text &a, const text &b)
    {
        return a.view().compare(b.view()) < 0;
    }
};

template <class T> unsigned long hash_of(const T &value)
{
    return base::mix(1, (unsigned long)value);
}
inline unsigned long hash_of(const text &value)
{
    return value.view().hash();
}

template <class T> class maybe
{
    alignas(T) unsigned char room[sizeof(T)];
    bool full = false;

  public:
    maybe() = default;
    maybe(T value) : full(true)
    {
        new (room) T(move(value));
    }
    maybe(const maybe &other) : full(other.full)
    {
        if (full)
            new (room) T(*other);
    }
    maybe &operator=(maybe other)
    {
        clear();
        if (other.full)
            new (room) T(move(*other));
        full = other.full;
        return *this;
    }
    ~maybe()
    {
        clear();
    }
    void clear()
    {
        if (full)
            (**this).~T();
        full = false;
    }
    explicit operator bool() const
    {
        return full;
    }
    T &operator*()
    {
        return *reinterpret_cast<T *>(room);
    }
    const T &operator*() const
    {
        return *reinterpret_cast<const T *>(room);
    }
    T or_else(T other) const
    {
        return full ? **this : other;
    }
    template <class F> auto then(F &&f) const -> maybe<base::bare_t<decltype(f(**this))>>
    {
        if (!full)
            return {};
        return f(**this);
    }
};

template <class T> class owned
{
    T *ptr = nullptr;

  public:
    owned() = default;
    explicit owned(T *p) : ptr(p)
    {
    }
    owned(owned &&other) : ptr(other.ptr)
    {
        other.ptr = nullptr;
    }
    owned &operator=(owned &&other)
    {
        base::swap(ptr, other.ptr);
        return *this;
    }
    ~owned()
    {
        delete ptr;
    }
    T *operator->() const
    {
        return ptr;
    }
    T &operator*() const
    {
        return *ptr;
    }
    explicit operator bool() const
    {
        return ptr != nullptr;
    }
};
template <class T, class... A> owned<T> make(A &&...args)
{
    return owned<T>(new T(forward<A>(args)...));
}

template <class T> class shared
{
    struct box {
        T value;
        long count;
    };
    box *ptr = nullptr;

    void drop()
    {
        if (ptr && --ptr->count == 0)
            delete ptr;
    }

  public:
    shared() = default;
    explicit shared(T value) : ptr(new box{move(value), 1})
    {
    }
    shared(const shared &other) : ptr(other.ptr)
    {
        if (ptr)
            ptr->count++;
    }
    shared &operator=(shared other)
    {
        base::swap(ptr, other.ptr);
        return *this;
    }
    ~shared()
    {
        drop();
    }
    T &operator*() const
    {
        if (!ptr)
            base::fail();
        return ptr->value;
    }
    T *operator->() const
    {
        return &**this;
    }
};

template <class F> class task;
template <class R, class... A> class task<R(A...)>
{
    struct call {
        virtual ~call() = default;
        virtual R run(A... args) = 0;
    };
    template <class F> struct holder final : call {
        F f;
        explicit holder(F from) : f(move(from))
        {
        }
        R run(A... args) override
        {
            return f(forward<A>(args)...);
        }
    };
    owned<call> held;

  public:
    template <class F> task(F f) : held(new holder<F>(move(f)))
    {
    }
    task(task &&) = default;
    R operator()(A... args) const
    {
        return held->run(forward<A>(args)...);
    }
};

template <class K, class V> class table
{
    struct slot {
        K key;
        V value;
        bool full = false;
    };
    array<slot> slots;
    usize count = 0;

    usize place(const K &key) const
    {
        usize at = hash_of(key) & (slots.size() - 1);
        while (slots[at].full && !(slots[at].key == key))
            at = (at + 1) & (slots.size() - 1);
        return at;
    }
    void grow()
    {
        array<slot> old;
        old.swap(slots);
        usize room = old.empty() ? 8 : old.size() * 2;
        for (usize i = 0; i < room; i++)
            slots.emplace();
        for (slot &one : old)
            if (one.full)
                slots[place(one.key)] = move(one);
    }

  public:
    usize size() const
    {
        return count;
    }
    V &operator[](const K &key)
    {
        if ((count + 1) * 4 > slots.size() * 3)
            grow();
        slot &found = slots[place(key)];
        if (!found.full) {
            found.key = key;
            found.full = true;
            count++;
        }
        return found.value;
    }
    maybe<V> find(const K &key) const
    {
        if (slots.empty())
            return {};
        const slot &found = slots[place(key)];
        if (!found.full)
            return {};
        return found.value;
    }
    template <class F> void each(F &&f) const
    {
        slots.each([&](const slot &one) {
            if (one.full)
                f(one.key, one.value);
        });
    }
};

template <class K, class V> class tree
{
    struct node {
        K key;
        V value;
        unsigned long rank;
        owned<node> left, right;
    };
    owned<node> root;

    static void rotate(owned<node> &top, owned<node> node::*from, owned<node> node::*to)
    {
        owned<node> child = move((*top).*from);
        (*top).*from = move((*child).*to);
        (*child).*to = move(top);
        top = move(child);
    }
    static V &add(owned<node> &at, const K &key)
    {
        if (!at) {
            at = owned<node>(new node{key, V(), hash_of(key), {}, {}});
            return at->value;
        }
        if (key == at->key)
            return at->value;
        bool lower = key < at->key;
        owned<node> node::*side = lower ? &node::left : &node::right;
        V &found = add((*at).*side, key);
        if (((*at).*side)->rank > at->rank)
            rotate(at, side, lower ? &node::right : &node::left);
        return found;
    }
    template <class F> static void walk(const owned<node> &at, F &f)
    {
        if (!at)
            return;
        walk(at->left, f);
        f(at->key, at->value);
        walk(at->right, f);
    }

  public:
    V &operator[](const K &key)
    {
        return add(root, key);
    }
    template <class F> void each(F f) const
    {
        walk(root, f);
    }
};

template <class... T> struct bundle {
};
template <class T, class... Rest> struct bundle<T, Rest...> {
    T head;
    bundle<Rest...> rest;

    template <class F> void each(F &&f) const
    {
        f(head);
        if constexpr (sizeof...(Rest) > 0)
            rest.each(f);
    }
};

template <usize A, usize B> constexpr usize larger = A > B ? A : B;
template <class... T> constexpr usize widest = 0;
template <class T, class... Rest> constexpr usize widest<T, Rest...> = larger<sizeof(T), widest<Rest...>>;

template <class T, class First, class... Rest> constexpr int index_of = 1 + index_of<T, Rest...>;
template <class T, class... Rest> constexpr int index_of<T, T, Rest...> = 0;

template <class... T> class either
{
    alignas(16) unsigned char room[widest<T...>];
    int which = -1;

    template <int I, class F, class First, class... Rest> void dispatch(F &f) const
    {
        if (which == I)
            f(*reinterpret_cast<const First *>(room));
        else if constexpr (sizeof...(Rest) > 0)
            dispatch<I + 1, F, Rest...>(f);
    }

  public:
    either() = default;
    template <class U> explicit either(U value) : which(index_of<U, T...>)
    {
        new (room) U(move(value));
    }
    either(const either &other) : which(-1)
    {
        other.visit([&](const auto &value) {
            using U = base::bare_t<decltype(value)>;
            new (room) U(value);
        });
        which = other.which;
    }
    either &operator=(const either &other)
    {
        if (this != &other) {
            this->~either();
            new (this) either(other);
        }
        return *this;
    }
    ~either()
    {
        visit([](const auto &value) {
            using U = base::bare_t<decltype(value)>;
            const_cast<U &>(value).~U();
        });
    }
    template <class F> void visit(F &&f) const
    {
        dispatch<0, base::bare_t<F>, T...>(f);
    }
};

class writer
{
    array<unsigned char> out;

  public:
    void put(unsigned char one)
    {
        out.push(one);
    }
    void put(unsigned long value)
    {
        while (value >= 128) {
            put((unsigned char)(value | 128));
            value >>= 7;
        }
        put((unsigned char)value);
    }
    void put(long value)
    {
        put((unsigned long)value << 1 ^ (unsigned long)(value >> 63));
    }
    void put(int value)
    {
        put((long)value);
    }
    void put(double value)
    {
        put((unsigned long)(value * 1024.0));
    }
    void put(const text &value)
    {
        put((unsigned long)value.size());
        for (usize i = 0; i < value.size(); i++)
            put((unsigned char)value.view().ptr[i]);
    }
    template <class T> void put(const maybe<T> &value)
    {
        put((unsigned char)bool(value));
        if (value)
            put(*value);
    }
    template <class T> void put(const array<T> &value)
    {
        put((unsigned long)value.size());
        value.each([this](const T &one) { put(one); });
    }
    template <class K, class V> void put(const table<K, V> &value)
    {
        put((unsigned long)value.size());
        value.each([this](const K &key, const V &one) {
            put(key);
            put(one);
        });
    }
    template <class... T> void put(const bundle<T...> &value)
    {
        value.each([this](const auto &one) { put(one); });
    }
    template <class... T> void put(const either<T...> &value)
    {
        value.visit([this](const auto &one) { put(one); });
    }
    template <class T> auto put(const T &value) -> decltype(value.write(*this))
    {
        value.write(*this);
    }
    const array<unsigned char> &bytes() const
    {
        return out;
    }
};

} // namespace KIT
