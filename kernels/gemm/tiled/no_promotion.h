// What the loop over k says before, between and behind its tiles. Only a patch promotes (see tensor/patch.h).
#define BEGIN_PROMOTION()
#define PROMOTE(acc)
#define END_PROMOTION(acc)
