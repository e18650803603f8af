// Stands in for the platform's part of quiche: its Prague reads no flags.
#pragma once
