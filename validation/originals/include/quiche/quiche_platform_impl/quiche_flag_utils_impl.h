// Stands in for the platform's part of quiche: nothing is counted.
#pragma once
#define QUICHE_CODE_COUNT_IMPL(name)
