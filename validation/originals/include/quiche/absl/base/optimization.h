// Stands in for abseil's hints to the compiler.
#pragma once
#define ABSL_PREDICT_FALSE(condition) (condition)
