// Stands in for the platform's part of quiche: nothing is exported.
#pragma once
#define QUICHE_EXPORT_IMPL
#define QUICHE_NO_EXPORT_IMPL
