// Stands in for the platform's part of quiche: nothing is logged or checked.
#pragma once
struct NothingLogged {
    template <class Value>
    constexpr const NothingLogged &operator<<(const Value &) const
    {
        return *this;
    }
};
#define NOTHING_LOGGED while (false) NothingLogged()
#define QUICHE_DVLOG_IMPL(level) NOTHING_LOGGED
#define QUICHE_LOG_FIRST_N_IMPL(severity, n) NOTHING_LOGGED
#define QUICHE_DCHECK_IMPL(condition) NOTHING_LOGGED
#define QUICHE_DCHECK_NE_IMPL(one, other) NOTHING_LOGGED
#define QUICHE_DCHECK_LT_IMPL(one, other) NOTHING_LOGGED
#define QUICHE_DCHECK_GE_IMPL(one, other) NOTHING_LOGGED
#define QUICHE_DCHECK_GT_IMPL(one, other) NOTHING_LOGGED
