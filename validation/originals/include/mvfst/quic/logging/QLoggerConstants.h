// Stands in for the texts of mvfst's qlog, which is not written.
#pragma once
