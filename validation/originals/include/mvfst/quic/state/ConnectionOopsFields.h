// Stands in for the fields of mvfst's log of broken promises, which is not written.
#pragma once
