// Stands in for the platform's part of quiche: no bug is reported.
#pragma once
#include "quiche_platform_impl/quiche_logging_impl.h"
#define QUICHE_BUG_IMPL(id) NOTHING_LOGGED
#define QUICHE_BUG_IF_IMPL(id, condition) NOTHING_LOGGED
