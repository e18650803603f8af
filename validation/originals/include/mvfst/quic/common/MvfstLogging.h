// Stands in for mvfst's log and checks: nothing is logged or checked.
#pragma once
struct NothingLogged {
    template <class Value>
    const NothingLogged &operator<<(const Value &) const
    {
        return *this;
    }
};
#define MVVLOG(level) while (false) NothingLogged()
#define MVLOG_ERROR while (false) NothingLogged()
#define MVDCHECK(condition)
