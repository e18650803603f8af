// Stands in for mvfst's exceptions: its Copa throws none.
#pragma once
