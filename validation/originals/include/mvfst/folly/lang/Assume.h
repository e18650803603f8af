// Stands in for folly's header, of which mvfst's enumerations use nothing here.
#pragma once
