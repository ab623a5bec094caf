/* SPDX-License-Identifier: MIT */
#include "service/policy-view.h"

#include "common/cleanup.h"
#include "common/jwriter.h"

void policy_view_fill(const Service *service, const Session *session, DecisionInput *input) {
        const Overlay *overlay = overlay_table_find(service->overlays, session);
        const PolicySet *set = permissions_get(service->permissions);

        input->unreadable_rules = permissions_get_unreadable(service->permissions);
        input->unreadable_settings = config_get_unreadable(service->config);
        input->rules = set->rules;
        input->review = set->review;
        input->admission = set->admission;
        input->admin_posture = (PostureLimit) { .set = set->has_posture, .posture = set->posture, .at = set->posture_at };
        if (overlay)
                overlay_fill(overlay, input);
}

void policy_view_wait(const Service *service, const Session *session, void (*ready)(void *userdata), void *userdata, OverlayWait **ret) {
        Overlay *overlay = overlay_table_find(service->overlays, session);

        *ret = NULL;
        if (overlay)
                overlay_wait(overlay, ready, userdata, ret);
}

char *policy_view_write(const Service *service, const Session *session) {
        const Overlay *overlay = session ? overlay_table_find(service->overlays, session) : NULL;
        g_auto(JWriter) writer = {};

        jwriter_init(&writer);
        jwriter_begin_object(&writer);
        jwriter_member_string(&writer, "posture", posture_to_string(service->config->posture));
        permissions_write(service->permissions, &writer);
        if (overlay) {
                jwriter_key(&writer, "project");
                jwriter_begin_object(&writer);
                overlay_write(overlay, &writer);
                jwriter_end_object(&writer);
        }
        jwriter_end_object(&writer);
        return jwriter_steal(&writer, NULL);
}
