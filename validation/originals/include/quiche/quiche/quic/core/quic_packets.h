// Stands in for quiche's packets: its Prague uses their types alone.
#pragma once
#include "quiche/quic/core/quic_bandwidth.h"
#include "quiche/quic/core/quic_constants.h"
#include "quiche/quic/core/quic_types.h"
