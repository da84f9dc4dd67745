// The table of observers, from observer_list.def.

#include "output/observer.h"

#define PCS_OBSERVER(name) extern const pcs_observer_ops pcs_observer_##name;
#include "output/observer_list.def"
#undef PCS_OBSERVER

#define PCS_OBSERVER(name) &pcs_observer_##name,
const pcs_observer_ops *const pcs_observers[] = {
#include "output/observer_list.def"
    NULL
};
#undef PCS_OBSERVER
