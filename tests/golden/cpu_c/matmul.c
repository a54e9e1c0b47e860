void body(const uint64_t *slots, int64_t first_program, int64_t last_program)
{
    const int64_t *const grid = (const int64_t *)(uintptr_t)slots[0];
    char *const scratch = ((void *(*)(uint64_t))(uintptr_t)slots[1])(1182208);
    float *const a = (float *)(uintptr_t)slots[2];
    float *const b = (float *)(uintptr_t)slots[3];
    float *const c = (float *)(uintptr_t)slots[4];
    const int32_t M = (int32_t)slots[5];
    const int32_t N = (int32_t)slots[6];
    const int32_t K = (int32_t)slots[7];
    const int32_t stride_am = (int32_t)slots[8];
    const int32_t stride_bk = (int32_t)slots[9];
    const int32_t stride_cm = (int32_t)slots[10];
    int32_t *const offsets_m_buffer = (int32_t *)(scratch + 0);
    int32_t *const offsets_n_buffer = (int32_t *)(scratch + 768);
    float *const total_buffer = (float *)(scratch + 1536);
    float *const b_tile_kept = (float *)(scratch + 67328);
    struct packed b_tile_packed[32] = {{0}};
    float *const b_tile_buffer = (float *)(scratch + 1116160);
    float *const a_tile_buffer = (float *)(scratch + 1149184);
    for (int64_t program = first_program; program < last_program; ++program) {
        const int32_t program_x = (int32_t)(program % grid[0]);
        int b_tile_step = 0;
        // 39: blocks_m = tl.cdiv(M, BLOCK_M)
        const int32_t blocks_m = i32_div(M + 127, 128);
        // 40: blocks_n = tl.cdiv(N, BLOCK_N)
        const int32_t blocks_n = i32_div(N + 127, 128);
        // 41: group = program // (GROUP * blocks_n)
        const int32_t product = blocks_n * 8;
        const int32_t group = i32_div(program_x, product);
        // 42: first_m = group * GROUP
        const int32_t first_m = group * 8;
        // 43: rows_of_group = min(blocks_m - first_m, GROUP)
        const int32_t rows_of_group = i32_min(blocks_m - first_m, 8);
        // 44: block_m = first_m + (program % (GROUP * blocks_n)) % rows_of_group
        const int32_t remainder = i32_rem(program_x, product);
        const int32_t block_m = first_m + i32_rem(remainder, rows_of_group);
        // 45: block_n = (program % (GROUP * blocks_n)) // rows_of_group
        const int32_t block_n = i32_div(remainder, rows_of_group);
        // 48: offsets_m = (block_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
        const int32_t rows_start = block_m * 128;
        // 49: offsets_n = (block_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
        const int32_t columns_start = block_n * 128;
        // 55: for k in range(tl.cdiv(K, BLOCK_K)):
        const int32_t k_end = i32_div(K + 63, 64);
        const int64_t product_1 = (int64_t)(stride_bk * 64);
        // 48: offsets_m = (block_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
        // 49: offsets_n = (block_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
        const i32x32 i32_lanes = i32x32_iota();
        const i32x32 rows_start_all = i32x32_splat(rows_start);
        const i32x32 M_all = i32x32_splat(M);
        const i32x32 columns_start_all = i32x32_splat(columns_start);
        const i32x32 N_all = i32x32_splat(N);
        for (int64_t i = 0; i < 128; i += 32) {
            const i32x32 lane = i32x32_add(i32x32_splat((int32_t)i), i32_lanes);
            const i32x32 rows = i32x32_add(rows_start_all, lane);
            const i32x32 offsets_m = i32x32_rem(rows, M_all);
            const i32x32 columns = i32x32_add(columns_start_all, lane);
            const i32x32 offsets_n = i32x32_rem(columns, N_all);
            store_i32_i32x32(offsets_m_buffer + i, offsets_m);
            store_i32_i32x32(offsets_n_buffer + i, offsets_n);
        }
        // 55: for k in range(tl.cdiv(K, BLOCK_K)):
        __builtin_memset(total_buffer, 0, 16384 * sizeof *total_buffer);
        int64_t a_block_distance = 0;
        int64_t b_block_distance = 0;
        for (int32_t k = 0; k < k_end; ++k) {
            // 56: left = K - k * BLOCK_K
            const int32_t left = K - k * 64;
            // 59: total = tl.dot(a_tile, b_tile, total)
            const int rows = larger(smaller((int64_t)M - rows_start, 128), 0);
            const int columns = larger(smaller((int64_t)N - columns_start, 128), 0);
            const int depth = larger(smaller(left, 64), 0);
            float *const b_tile_panels = b_tile_kept + b_tile_step * 8192;
            struct packed *const b_tile_seen = b_tile_packed + b_tile_step;
            b_tile_step += b_tile_step < 31;
            if (columns_start >= 0 && columns_start + (int64_t)columns <= N) {
                if (!is_packed(b_tile_seen, b + ((int64_t)columns_start + b_block_distance), stride_bk, 1, depth, columns))
                    pack_f32_f32(b_tile_panels, b + ((int64_t)columns_start + b_block_distance), stride_bk, 1, depth, columns);
            } else {
                b_tile_seen->from = 0;
                for (int64_t i = 0; i < 64; ++i) {
                    float *b_row = b + (i * stride_bk + b_block_distance);
                    const int64_t row_end = i < left ? 128 : 0;
                    for (int64_t j = 0; j < 128; j += 32) {
                        const i32x32 offsets_n = load_i32_i32x32(offsets_n_buffer + j);
                        const i64x32 wide = cast_i32x32_i64x32(offsets_n);
                        int64_t offsets[32];
                        store_i64_i64x32(offsets, wide);
                        const int count = lanes_left(row_end - j, 32);
                        const i32x32 active = i32x32_lt(i32_lanes, i32x32_splat(count));
                        int32_t lane_mask[32];
                        store_i32_i32x32(lane_mask, active);
                        float b_tile_part[32];
                        const f32x32 b_tile = load_f32_f32x32(gather_f32(b_tile_part, b_row, offsets, lane_mask, 0.0f, 32));
                        store_f32_f32x32(b_tile_buffer + i * 128 + j, b_tile);
                    }
                }
                pack_f32_f32(b_tile_panels, b_tile_buffer, 128, 1, depth, columns);
            }
            const float *lhs = a + ((int64_t)stride_am * rows_start + a_block_distance);
            int64_t lhs_stride = stride_am;
            if (!(rows_start >= 0 && rows_start + (int64_t)rows <= M)) {
                for (int64_t i = 0; i < 128; ++i) {
                    const int32_t offsets_m = offsets_m_buffer[i];
                    float *a_row = a + ((int64_t)stride_am * offsets_m + a_block_distance);
                    for (int64_t j = 0; j < 64; j += 32) {
                        const int count = lanes_left(left - j, 32);
                        float a_tile_part[32];
                        const f32x32 a_tile = load_f32_f32x32(count == 32 ? a_row + j : partial_load_f32(a_tile_part, a_row + j, count, 0.0f, 32));
                        store_f32_f32x32(a_tile_buffer + i * 64 + j, a_tile);
                    }
                }
                lhs = a_tile_buffer;
                lhs_stride = 64;
            }
            dot_128x128x64_f32(total_buffer, 128, lhs, lhs_stride, b_tile_panels, rows, columns, depth);
            a_block_distance += 64;
            b_block_distance += product_1;
        }
        // 67: tl.store(c_block, total.to(c.dtype.element_ty), mask=inside)
        const int64_t i_end = smaller((int64_t)M - rows_start, 128);
        const int64_t row_end = (int64_t)N - columns_start;
        const int64_t j_end = smaller(row_end, 128);
        for (int64_t i = 0; i < i_end; ++i) {
            float *c_row = c + ((int64_t)rows_start * stride_cm + i * stride_cm + columns_start);
            for (int64_t j = 0; j < j_end; j += 32) {
                const int count = lanes_left(row_end - j, 32);
                const f32x32 total = load_f32_f32x32(total_buffer + i * 128 + j);
                if (count == 32)
                    store_f32_f32x32(c_row + j, total);
                else {
                    float part[32];
                    store_f32_f32x32(part, total);
                    partial_store_f32(c_row + j, part, count);
                }
            }
        }
    }
}
