/* SPDX-License-Identifier: MIT */
#include "common/limits.h"
#include "service/log-meter.h"

bool log_meter_admit(LogMeter *meter, uint64_t now_usec, unsigned *ret_dropped) {
        *ret_dropped = 0;
        if (meter->n == 0 || now_usec - meter->begin_usec >= LOG_LINES_MSEC * (uint64_t) 1000) {
                *ret_dropped = meter->n > LOG_LINES_MAX ? meter->n - LOG_LINES_MAX : 0;
                *meter = (LogMeter) { .begin_usec = now_usec };
        }
        return ++meter->n <= LOG_LINES_MAX;
}
