#include "tool.h"
int cmd_owners(int argc, char **argv) { (void)argc; (void)argv; return 1; }
