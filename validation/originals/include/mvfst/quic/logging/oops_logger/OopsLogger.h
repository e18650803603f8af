// Stands in for mvfst's log of broken promises, which is not written.
#pragma once
#define PROTO_OOPS_LOG_BUILDER_IF(...)
