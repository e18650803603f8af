// Stands in for mvfst's names of folly's buffers, which its Copa does not use.
#pragma once
